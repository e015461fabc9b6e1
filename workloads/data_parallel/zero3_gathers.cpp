// DeepSpeed 0.14.0, runtime/zero/partition_parameters.py (all_gather_coalesced).
#include "workloads/data_parallel/zero3_gathers.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "workloads/data_parallel/deepspeed_calls.hpp"
#include "workloads/data_parallel/zeropp.hpp"

namespace weft {

double padded_elements(const ShardingInput& input, const StageTensor& tensor) {
    return round_up(static_cast<double>(tensor.elements), ranks_of(input, group_of(tensor)));
}

Zero3Gathers::Zero3Gathers(const ShardingInput& input)
    : input_(input),
      host_(input),
      tensors_(stage_tensors(input.modules)),
      gather_of_(tensors_.size(), none),
      copied_(tensors_.size(), false) {}

void Zero3Gathers::start(Script& script, std::span<const std::uint32_t> list, Where where) {
    std::map<RankGroups, std::vector<std::uint32_t>> by_group;
    for (const std::uint32_t t : list) {
        const bool inner = copied_[t] && input_.deepspeed.hierarchical_ranks > 1 && !tensors_[t].expert;
        by_group[inner ? RankGroups::inner(copy_axes()) : group_of(tensors_[t])].push_back(t);
    }
    where.micro_batch = Where::whole_step;  // another micro-batch may find more, or less, resident
    for (const auto& [group, together] : by_group) {
        const std::uint32_t members =
            group == RankGroups::inner(copy_axes()) ? input_.inner_ranks : ranks_of(input_, group);
        if (members == 1 && !host_.holds_parameters()) continue;
        double elements = 0;
        for (const std::uint32_t t : together) elements += padded_elements(input_, tensors_[t]);
        Gather gather;
        if (host_.holds_parameters()) gather.calls.push_back(host_.fetch_shards(script, elements / members, where));
        const auto issue = [&, group = group](double bytes, std::string_view label, std::string_view type) {
            const Call call = deepspeed_call(Collective::all_gather, group, bytes, label, type);
            const bool fetched = !gather.calls.empty(), logged = input_.deepspeed.log_calls == Setting::on;
            if (fetched && logged) script.wait(gather.calls.back());
            gather.calls.push_back(fetched && !logged ? script.issue(call, where, gather.calls.back())
                                                      : issue_unless_logged(script, input_, call, where));
        };
        if (input_.deepspeed.quantized_weights == Setting::on) {
            const auto shard = static_cast<std::uint64_t>(elements / members);
            issue(elements, "all-gather parameters", "int8");
            issue(4.0 * static_cast<double>(quantization_groups(shard)) * members, "all-gather scales", "fp32");
        } else if (members > 1) {
            issue(elements * input_.element_bytes, "all-gather parameters", input_.element_type);
        }
        for (const std::uint32_t t : together) gather_of_[t] = gathers_.size();
        gathers_.push_back(std::move(gather));
    }
}

void Zero3Gathers::finish(Script& script, std::size_t tensor) {
    if (gather_of_[tensor] == none) return;
    Gather& gather = gathers_[std::exchange(gather_of_[tensor], none)];
    if (std::exchange(gather.finished, true)) return;
    for (const ActionId call : gather.calls) script.wait(call);
}

void Zero3Gathers::gather_alone(Script& script, std::size_t tensor) const {
    const RankGroups group = group_of(tensors_[tensor]);
    const std::uint32_t ranks = ranks_of(input_, group);
    if (host_.holds_parameters()) {
        script.wait(host_.fetch_shards(script, padded_elements(input_, tensors_[tensor]) / ranks, {}));
    }
    if (ranks == 1) return;
    script.call(
        deepspeed_call(Collective::all_gather, group, padded_elements(input_, tensors_[tensor]) * input_.element_bytes,
                       "all-gather parameters", input_.element_type),
        {});
}

void Zero3Gathers::forget_copies() { std::fill(copied_.begin(), copied_.end(), false); }

}  // namespace weft
