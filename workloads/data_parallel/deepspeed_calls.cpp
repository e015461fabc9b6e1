#include "workloads/data_parallel/deepspeed_calls.hpp"

#include <algorithm>

namespace weft {

Call deepspeed_call(Collective op, RankGroups group, double bytes, std::string_view label, std::string_view type) {
    return {op, group, {bytes}, label, type, Through::deepspeed};
}

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
            const RankGroups kind = expert ? RankGroups{"expert_data"} : copy_axes();
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

void all_reduce_overflow(Script& script, RankGroups group) {
    script.call(deepspeed_call(Collective::all_reduce, group, 1, "all-reduce overflow", "uint8"), {});
}

void all_reduce_gradient_norm(Script& script, RankGroups group) {
    script.call(deepspeed_call(Collective::all_reduce, group, 4, "all-reduce gradient norm", "fp32"), {});
}

constexpr double fp32_bytes = 4;

ActionId HostCopies::store_gradients(Script& script, double elements, Where where, ActionId reduced) const {
    const bool once = where.micro_batch == Where::whole_step;  // ZeRO-1 adds up on the device
    const bool first = once || where.micro_batch == 0, last = once || where.micro_batch + 1 == input_.micro_batches;
    ActionId ready = reduced;
    if (!first) ready = script.load("fetch gradients", time(elements * input_.element_bytes), where, ready);
    const double bytes = last ? fp32_bytes : input_.element_bytes;
    return script.store("offload gradients", time(elements * bytes), where, ready);
}

void HostCopies::load_parameters(Script& script, double elements) const {
    const double bytes = input_.zero == 3 ? input_.element_bytes : fp32_bytes;
    script.wait(script.load("fetch parameters", time(elements * bytes), {}, script.now()));
}

ActionId HostCopies::fetch_shards(Script& script, double elements, Where where) const {
    const Bytes bytes{elements * input_.element_bytes};
    Seconds duration = bytes / input_.host_link;
    if (input_.deepspeed.parameters == ParametersOn::nvme) duration = std::max(duration, bytes / input_.drives_read);
    return script.load("fetch parameters", duration, where, script.now());
}

void HostCopies::store_parameters(Script& script, double elements) const {
    script.wait(script.store("offload parameters", time(elements * input_.element_bytes), {}, script.now()));
}

}  // namespace weft
