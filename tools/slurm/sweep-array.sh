#!/bin/bash
# A sweep as a job array of 64 shards, and a dependent job that merges them:
#   sbatch --array=1-64 tools/slurm/sweep-array.sh SWEEP.json ROWS.csv
# Shards go to ROWS.csv.shards/. Submitted again after a failure or a time limit, each goes on where it stopped, and
# those that are complete end at once; to submit only some of the 64 again, name their number as well:
#   sbatch --array=7,12 tools/slurm/sweep-array.sh SWEEP.json ROWS.csv 64
# Options of weft sweep may follow. Set WEFT if weft is not on the PATH. weft sweep --submit slurm does all of it.
#SBATCH --job-name=weft-sweep
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@60
set -euo pipefail

sweep=$1 rows=$2 count=${3:-$SLURM_ARRAY_TASK_COUNT} weft=${WEFT:-weft} options=("${@:4}")
shards=$rows.shards
mkdir -p "$shards"

# The first of the array submits the merge; it starts when all have ended well, and leaves the queue where one has not.
if ((SLURM_ARRAY_TASK_ID == SLURM_ARRAY_TASK_MIN)); then
    sbatch --job-name=weft-merge --dependency="afterok:$SLURM_ARRAY_JOB_ID" --kill-on-invalid-dep=yes \
        --ntasks=1 --time=00:10:00 --wrap "${weft@Q} merge ${rows@Q} ${shards@Q}/*.shard"
fi

exec "$weft" sweep "$sweep" "${options[@]}" --shard "$SLURM_ARRAY_TASK_ID/$count" --jobs "$SLURM_CPUS_PER_TASK" \
    --out "$shards/$SLURM_ARRAY_TASK_ID.shard" --resume
