#!/bin/bash
#SBATCH --nodes=2
TP=${TP:-4}
PP=2
if [ "$TP" -gt 1 ]; then
  MORE=(--sequence-parallel)
fi
MODEL=(
    --num-layers 12   # of which six a stage
    --hidden-size $((64 * 16)) --num-attention-heads 16 --swiglu
    --position-embedding-type rope --seq-length 1024
    --max-position-embeddings 1024 --vocab-size 31999 --tokenizer-type NullTokenizer
)
RUN="--micro-batch-size 1 --global-batch-size 32 --bf16 \
  --tensor-model-parallel-size $TP --pipeline-model-parallel-size=${PP}"
torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES train.py "${MODEL[@]}" "${MORE[@]}" $RUN 2>&1 | tee log
