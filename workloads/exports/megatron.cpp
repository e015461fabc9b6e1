// Launch scripts of Megatron-LM: one to be run on every node, and a batch script of Slurm.
#include <fmt/format.h>

#include <algorithm>

#include "models/transformer/flops.hpp"
#include "workloads/exports/export.hpp"

namespace weft::exports {
namespace {

std::string environment(const Job& job) {
    std::string text;
    // Tensor parallelism relies on the order of launches (megatron/training/arguments.py checks it), but for graphs.
    if (job.layout.tensor > 1 || job.layout.context > 1) text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
    if (job.blocking_launches == Setting::on) text += "export CUDA_LAUNCH_BLOCKING=1\n";
    return text;
}

std::string_view program(const Job& job) { return is_hybrid(job.model) ? "pretrain_mamba.py" : "pretrain_gpt.py"; }

// `before` the keys that only weft has, `launcher` behind them and the environment, then the arguments and `command`.
std::string script(const Study& study, std::string_view before, std::string_view exports, std::string_view launcher,
                   std::string_view command) {
    Unsayable unsayable(study);
    const std::string arguments = megatron_arguments(study, unsayable);
    unsayable.check();
    return fmt::format("#!/bin/bash\n{}{}{}{}{}{}{}", before, own_keys(study, "megatron"), exports,
                       environment(study.job), launcher, arguments, command);
}

std::string write_megatron(const Study& study) {
    const Job& job = study.job;
    return script(
        study,
        fmt::format("# {} on {} nodes of {}: {}. For NVIDIA/Megatron-LM ({}): run it on every node,\n"
                    "# in a checkout, with NODE_RANK and MASTER_ADDR set.\n",
                    job.model.name, job.nodes, study.machine.info().name, axes(job.layout), job.megatron.version.name),
        "",
        fmt::format("\nNODES={}\nGPUS_PER_NODE={}\nDISTRIBUTED_ARGS=(\n    --nnodes $NODES\n    --nproc_per_node "
                    "$GPUS_PER_NODE\n    --node_rank ${{NODE_RANK:-0}}\n    --master_addr ${{MASTER_ADDR:-localhost}}\n"
                    "    --master_port ${{MASTER_PORT:-6000}}\n)\n",
                    job.nodes, std::min(job.layout.ranks(), job.ranks_per_node)),
        fmt::format("\ntorchrun \"${{DISTRIBUTED_ARGS[@]}}\" {} \\\n    \"${{MODEL_ARGS[@]}}\" "
                    "\"${{LAYOUT_ARGS[@]}}\" \"${{TRAINING_ARGS[@]}}\" \"$@\"\n",
                    program(job)));
}

// One task per accelerator.
std::string write_slurm(const Study& study) {
    const Job& job = study.job;
    return script(study,
                  fmt::format("#SBATCH --job-name={0}\n#SBATCH --nodes={1}\n#SBATCH --ntasks-per-node={2}\n"
                              "#SBATCH --gpus-per-node={2}\n#SBATCH --exclusive\n",
                              job.name, job.nodes, std::min(job.layout.ranks(), job.ranks_per_node)),
                  "\nexport MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
                  "export MASTER_PORT=6000\nexport WORLD_SIZE=$SLURM_NTASKS\n",
                  "",
                  fmt::format("\nsrun bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; exec python {} "
                              "\"$@\"' - \\\n    \"${{MODEL_ARGS[@]}}\" \"${{LAYOUT_ARGS[@]}}\" "
                              "\"${{TRAINING_ARGS[@]}}\"\n",
                              program(job)));
}

}  // namespace

extern const ExportFormat megatron{"megatron", "launch script of Megatron-LM", write_megatron};
extern const ExportFormat slurm{"slurm", "batch script of Slurm for Megatron-LM", write_slurm};

}  // namespace weft::exports
