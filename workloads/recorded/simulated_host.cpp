#include "workloads/recorded/simulated_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace weft {
namespace {

// Kernels of a layer in one pass of the step, whatever computations they lie in.
using LayerKernels = std::map<std::pair<WorkPass, std::int32_t>, double>;

std::vector<const SimulatedComputation*> computations_of(const Script& script, const SimulatedRank& rank,
                                                         const std::vector<SimulatedComputation>& kernels) {
    std::vector<const SimulatedComputation*> found;
    std::size_t number = 0;
    ActionId seen = 0;
    for (const ActionId action : rank.actions) {
        for (; seen < action; ++seen) number += script.actions()[seen].kind == Action::Kind::compute;
        found.push_back(script.actions()[seen].kind == Action::Kind::compute ? &kernels[number] : nullptr);
    }
    return found;
}

// That the host issues for a kernel.
double operations(const Plan& plan, const SimulatedComputation& what, const LayerKernels& kernels) {
    if (what.layer == no_layer || !is_of_passes({what.pass, what.layer, {}})) return 1.0;
    const LayerCosts& costs = plan.costs.layers[plan.job.layer_place(static_cast<std::uint32_t>(what.layer))];
    const HostOperations& all = costs.host;
    const double of_pass = what.pass == WorkPass::backward ? all.input_backward + all.weight_backward : all.forward;
    return of_pass * plan.job.micro_batches() / kernels.at({what.pass, what.layer});
}

bool is_of_host(const RecordedRank& rank, std::size_t node) {
    const RecordedNode& what = rank.nodes[node];
    return what.kind == RecordedKind::compute && rank.units[what.unit].is_host;
}

bool waits_for_device(const RecordedRank& rank, std::size_t host) {
    const auto begin = rank.dependencies.begin();
    return std::any_of(begin + rank.first_dependency[host], begin + rank.first_dependency[host + 1],
                       [&](const NodeDependency& on) { return !is_of_host(rank, on.node); });
}

}  // namespace

SimulatedHost simulated_host(const Plan& plan, const Script& script, const SimulatedRank& rank,
                             const std::vector<SimulatedComputation>& kernels) {
    SimulatedHost host{.computations = computations_of(script, rank, kernels), .issues = {}, .waits = {}};
    std::vector<HostIssue>& issues = host.issues;
    issues.resize(rank.ops.size());
    LayerKernels of_layers;
    for (const SimulatedComputation& what : kernels) of_layers[{what.pass, what.layer}] += launches(what);
    double launched = 0;
    std::int64_t free = 0;          // when the host was through with the pass before
    std::vector<std::size_t> pass;  // its nodes
    for (std::size_t i = 0; i < rank.ops.size(); ++i) {
        issues[i].end = nanoseconds(rank.spans[i].end);
        if (const SimulatedComputation* const what = host.computations[i]) {
            pass.push_back(i);
            launched += launches(*what);
            issues[i].each = plan.device.host_launch.value * 1e9 * operations(plan, *what, of_layers);
        }
        if (!is_of_host(rank.record, i)) continue;
        const std::int64_t begin = nanoseconds(rank.spans[i].begin);
        if (waits_for_device(rank.record, i)) host.waits.push_back({free, begin});
        free = issues[i].end;
        auto at = static_cast<double>(begin);
        const double each = (static_cast<double>(free) - at) / std::max(launched, 1.0);
        for (const std::size_t one : pass) {
            issues[one] = {.begin = std::llround(at), .each = each, .end = issues[one].end};
            at += each * launches(*host.computations[one]);
        }
        if (!pass.empty()) issues[pass.back()].end = std::max(issues[pass.back()].end, free);
        pass.clear();
        launched = 0;
    }
    return host;
}

}  // namespace weft
