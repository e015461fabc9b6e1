// A launch script of Megatron-LM, to be run on every node.
#include <fmt/format.h>

#include "workloads/exports/arguments.hpp"

namespace weft::exports {
namespace {

std::string write(const Study& study) {
    Unsayable unsayable(study);
    const MegatronArguments arguments = megatron_arguments(study, unsayable);
    unsayable.check();
    const Job& job = study.job;
    std::string text = fmt::format(
        "#!/bin/bash\n# {} on {} nodes of {}: {}. For NVIDIA/Megatron-LM ({}): run it on every node,\n"
        "# in a checkout, with NODE_RANK and MASTER_ADDR set.\n",
        job.model.name, job.nodes, study.machine.info().name, axes(job.layout), job.megatron.version.name);
    text += own_keys(study, "megatron") + megatron_environment(job);
    text += fmt::format(
        "\nNODES={}\nGPUS_PER_NODE={}\nDISTRIBUTED_ARGS=(\n    --nnodes $NODES\n    --nproc_per_node "
        "$GPUS_PER_NODE\n    --node_rank ${{NODE_RANK:-0}}\n    --master_addr ${{MASTER_ADDR:-localhost}}\n"
        "    --master_port ${{MASTER_PORT:-6000}}\n)\n",
        job.nodes, std::min(job.layout.ranks(), job.ranks_per_node));
    text += bash_array("MODEL_ARGS", arguments.model) + bash_array("LAYOUT_ARGS", arguments.layout) +
            bash_array("TRAINING_ARGS", arguments.training);
    return text +
           "\ntorchrun \"${DISTRIBUTED_ARGS[@]}\" pretrain_gpt.py \\\n    \"${MODEL_ARGS[@]}\" \"${LAYOUT_ARGS[@]}\" "
           "\"${TRAINING_ARGS[@]}\" \"$@\"\n";
}

}  // namespace

extern const ExportFormat megatron;
const ExportFormat megatron{"megatron", "launch script of Megatron-LM", write, nullptr};

}  // namespace weft::exports
