#include "workloads/data_parallel/deepspeed_calls.hpp"

namespace weft {

ActionId issue_unless_logged(Script& script, const ShardingInput& input, const Call& call, Where where) {
    if (input.deepspeed.log_calls == Setting::on) return script.call(call, where);
    return script.issue(call, where, script.now());
}

void broadcast_parameters(Script& script, const ShardingInput& input) {
    for (const StageTensor& tensor : stage_tensors(input.modules)) {
        const double bytes = static_cast<double>(tensor.elements) * input.element_bytes;
        script.call(
            deepspeed_call(Collective::broadcast, group_of(tensor), bytes, "broadcast parameters", input.element_type),
            {});
    }
}

std::vector<OptimizerGroup> optimizer_groups(const ShardingInput& input) {
    const std::vector<StageTensor> tensors = stage_tensors(input.modules);
    std::vector<OptimizerGroup> groups;
    for (const bool expert : {false, true}) {
        for (const bool vector : {false, true}) {
            const RankGroups kind = reducing_groups()[expert ? 1 : 0];
            OptimizerGroup group{.group = kind, .ranks = ranks_of(input, kind)};
            for (std::size_t t = 0; t < tensors.size(); ++t) {
                if (!tensors[t].trained || tensors[t].expert != expert || tensors[t].vector != vector) continue;
                group.tensors.push_back(t);
                group.elements += static_cast<double>(tensors[t].elements);
            }
            group.padded = round_up(group.elements, 2.0 * group.ranks);
            // GPT-NeoX always makes the two dense groups, also where a stage holds nothing for one of them.
            if (!expert || !group.tensors.empty()) groups.push_back(std::move(group));
        }
    }
    return groups;
}

void gather_updated_parameters(Script& script, const ShardingInput& input) {
    for (const OptimizerGroup& group : optimizer_groups(input)) {
        if (group.ranks == 1 || group.tensors.empty()) continue;
        script.call(deepspeed_call(Collective::all_gather, group.group, group.padded * input.element_bytes,
                                   "all-gather parameters", input.element_type),
                    {});
    }
}

}  // namespace weft
