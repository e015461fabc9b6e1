// A batch script of Slurm that launches a job: Megatron-LM's arguments, one task per accelerator.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/exports/arguments.hpp"

namespace weft::exports {
namespace {

std::string write(const Study& study) {
    Unsayable unsayable(study);
    const MegatronArguments arguments = megatron_arguments(study, unsayable);
    unsayable.check();
    const Job& job = study.job;
    const std::uint32_t ranks_per_node = std::min(job.layout.ranks(), job.ranks_per_node);
    std::string text = fmt::format(
        "#!/bin/bash\n#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node={}\n"
        "#SBATCH --gpus-per-node={}\n#SBATCH --exclusive\n",
        job.name, job.nodes, ranks_per_node, ranks_per_node);
    text += own_keys(study, "megatron");
    text +=
        "\nexport MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
        "export MASTER_PORT=6000\nexport WORLD_SIZE=$SLURM_NTASKS\n";
    text += megatron_environment(job) + bash_array("MODEL_ARGS", arguments.model) +
            bash_array("LAYOUT_ARGS", arguments.layout) + bash_array("TRAINING_ARGS", arguments.training);
    return text +
           "\nsrun bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; exec python pretrain_gpt.py "
           "\"$@\"' - \\\n    \"${MODEL_ARGS[@]}\" \"${LAYOUT_ARGS[@]}\" \"${TRAINING_ARGS[@]}\"\n";
}

}  // namespace

extern const ExportFormat slurm;
const ExportFormat slurm{"slurm", "batch script of Slurm for Megatron-LM", write, nullptr};

}  // namespace weft::exports
