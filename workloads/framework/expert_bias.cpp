#include "workloads/framework/expert_bias.hpp"

#include <algorithm>

#include "workloads/framework/calls.hpp"

namespace weft {

std::vector<Call> expert_bias_calls(const Job& job, std::span<const StageModule> modules) {
    if (job.model.experts.count == 0 || !job.model.experts.balancing_bias) return {};
    const auto layers = static_cast<double>(std::ranges::count(modules, "router", &StageModule::name));
    if (layers == 0) return {};
    std::vector<Call> calls;
    const auto sum = [&](GroupKind group, std::uint32_t ranks) {
        if (ranks == 1) return;
        calls.push_back({.op = Collective::all_reduce,
                         .group = group,
                         .message = {4.0 * layers * job.model.experts.count},
                         .label = "all-reduce expert counts",
                         .type = "fp32"});
    };
    if (!gathers_before_routing(job)) sum(GroupKind::tensor, job.layout.tensor);
    sum(GroupKind::data, job.layout.copies());
    return calls;
}

}  // namespace weft
