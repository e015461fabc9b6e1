#!/bin/bash
# A sweep over all cores of a few nodes, one MPI rank each (weft built where MPI and Boost.MPI are installed):
#   sbatch tools/slurm/sweep-mpi.sh SWEEP.json ROWS.csv
# What is finished is in ROWS.csv.journal. Submitted again after a failure or a time limit, the sweep goes on from there.
#SBATCH --job-name=weft-sweep
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00
#SBATCH --signal=TERM@60
set -euo pipefail

sweep=$1 rows=$2 weft=${WEFT:-weft}

# --kill-on-bad-exit: without a rank that was lost the others would wait for it until the time limit.
exec srun --mpi=pmix --kill-on-bad-exit "$weft" sweep "$sweep" --out "$rows" --resume
