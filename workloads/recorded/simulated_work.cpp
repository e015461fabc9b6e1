#include "workloads/recorded/simulated_work.hpp"

#include <set>
#include <string_view>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

// What takes no time is not written: a kernel that a measure is 0 for counts for next to nothing, so that scripts have
// the same actions whatever is measured.
constexpr double presence = 1e-60;

std::int32_t layer_of(std::string_view label, const Where& where) {
    constexpr std::string_view of_layer[] = {"layer", "attention", "MLP", "experts", "backward weights"};
    const bool is = std::ranges::any_of(of_layer, [&](std::string_view end) { return label.ends_with(end); });
    return is ? static_cast<std::int32_t>(where.layer) : no_layer;
}

// Kernels that a profiler tells apart by their launching operations and shapes.
ProductShape kind_of(const Kernel& kernel) {
    const WorkClass what = work_class(kernel);
    if (kernel.kind != KernelKind::gemm) return {0, 0, 0, 0, what};
    return {kernel.m, kernel.n, kernel.k, kernel.count, what};
}

// Of a kernel, without its launch.
double time_alone(const Plan& plan, const Kernel& kernel) {
    const Device& device = plan.device;
    return kernel_time(device, plan.job.precision, kernel).value - device.kernel_launch.value * kernel.launches;
}

// Of the one kernel that updates, casts or copies parameters.
Seconds time_of_one(const Plan& plan, std::uint32_t stage, WorkPass pass, double seconds) {
    if (pass == WorkPass::optimizer) return passes_of_update(plan, plan.stages[stage]);
    return Seconds{seconds} - plan.device.kernel_launch;
}

std::vector<ProductShape> shapes_of(const std::vector<Kernel>& kernels) {
    std::vector<ProductShape> shapes;
    std::set<ProductShape> known;
    for (const Kernel& kernel : kernels) {
        const ProductShape shape = kind_of(kernel);
        if (known.insert(shape).second) shapes.push_back(shape);
    }
    return shapes;
}

void add_host(const Plan& plan, std::uint32_t stage, SimulatedWork& work) {
    double layers = 0;
    HostOperations sum;
    for (const Chunk& chunk : plan.stages[stage].chunks) {
        for (std::uint32_t layer = chunk.first_layer; layer < chunk.first_layer + chunk.layers; ++layer) {
            sum += plan.costs.layers[plan.job.layer_place(layer)].host;
            layers += 1;
        }
    }
    if (layers == 0) return;
    work.host_forward = plan.device.host_launch * (sum.forward / layers);
    work.host_backward = plan.device.host_launch * ((sum.input_backward + sum.weight_backward) / layers);
}

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
    return std::ranges::any_of(rank.dependencies_of(host),
                               [&](const NodeDependency& on) { return !is_of_host(rank, on.node); });
}

}  // namespace

WorkCounter::WorkCounter(const Plan& plan, std::uint32_t stage) : plan_(plan), stage_(stage) {
    plan_.device.host_launch = {};  // what waits for the host is no kernel
}

void WorkCounter::visit(const std::function<double(const Kernel&)>& measure,
                        const std::function<void(WorkKey, double)>& see) {
    plan_.costs = part_costs(plan_, [&](std::span<const Kernel> kernels) {
        return sum_of<Seconds>(kernels, [&](const Kernel& kernel) { return Seconds{measure(kernel) + presence}; });
    });
    const Script script = step_script(plan_, stage_, plan_.job.step);
    for (const Action& action : script.actions()) {
        if (action.kind != Action::Kind::compute) continue;
        const std::string_view label = script.labels()[action.label];
        WorkKey key{.pass = WorkPass::forward, .layer = layer_of(label, action.where), .what = {}};
        if (label.starts_with("recompute")) {
            key.pass = WorkPass::recomputation;
        } else if (label.starts_with("backward")) {
            key.pass = WorkPass::backward;
        } else if (label.starts_with("optimizer")) {
            key.pass = WorkPass::optimizer;
        } else if (!label.starts_with("forward")) {
            key.pass = WorkPass::data_parallel;
        }
        see(key, script.work()[action.subject].value);
    }
}

void WorkCounter::sum(const std::function<double(const Kernel&)>& measure,
                      const std::function<void(WorkKey, double)>& add) {
    visit(measure, [&](WorkKey key, double value) {
        if (value > least) add(key, value);
    });
}

SimulatedWork simulated_work(const Plan& plan, std::uint32_t stage, WorkDetail detail) {
    SimulatedWork work;
    WorkCounter counter(plan, stage);
    std::vector<Kernel> products;
    std::set<WorkClass> present;
    counter.sum(
        [&](const Kernel& kernel) {
            present.insert(work_class(kernel));
            if (kernel.kind == KernelKind::gemm) products.push_back(kernel);
            return 0.0;
        },
        [&](WorkKey key, double seconds) {  // what no kernel of a layer is
            if (is_of_passes(key)) return;
            const bool updates = key.pass == WorkPass::optimizer;
            key.what = updates ? WorkClass::optimizer : WorkClass::parameters;
            WorkSum& sum = work.sums[key];
            const Seconds busy = time_of_one(plan, stage, key.pass, seconds);
            sum.kernels += 1;
            sum.time += busy;
            sum.gaps += Seconds{seconds} - busy;
        });
    work.products = shapes_of(products);
    add_host(plan, stage, work);
    const Device& device = plan.device;
    constexpr double tera = 1e12;  // so that sums keep the digits that times have
    for (const WorkClass what : present) {
        const auto count = [&](auto measure, auto set) {
            counter.sum([&](const Kernel& kernel) { return work_class(kernel) == what ? measure(kernel) : 0.0; },
                        [&](WorkKey key, double value) {
                            if (!is_of_passes(key)) return;
                            key.what = what;
                            set(work.sums[key], value);
                        });
        };
        count([&](const Kernel& kernel) { return time_alone(plan, kernel); },
              [](WorkSum& sum, double value) { sum.time += Seconds{value}; });
        if (detail == WorkDetail::times) continue;
        count([](const Kernel& kernel) { return kernel.launches; },
              [&](WorkSum& sum, double value) {
                  sum.kernels += value;
                  sum.gaps += device.kernel_launch * value;
              });
        count([](const Kernel& kernel) { return kernel.flops.value * kernel.executed / tera; },
              [](WorkSum& sum, double value) { sum.flops += Flops{value * tera}; });
        count([](const Kernel& kernel) { return kernel.bytes.value / tera; },
              [](WorkSum& sum, double value) { sum.bytes += Bytes{value * tera}; });
    }
    work.fuses_passes =
        std::ranges::none_of(work.sums, [](const auto& each) { return each.first.what == WorkClass::element_wise; });
    return work;
}

std::vector<SimulatedComputation> simulated_kernels(const Plan& plan, std::uint32_t stage) {
    WorkCounter counter(plan, stage);
    std::vector<SimulatedComputation> computations;
    std::map<ProductShape, std::size_t> numbers;
    std::vector<ProductShape> kinds;
    counter.visit(
        [&](const Kernel& kernel) {
            const ProductShape kind = kind_of(kernel);
            if (numbers.try_emplace(kind, kinds.size()).second) kinds.push_back(kind);
            return 0.0;
        },
        [&](const WorkKey& key, double own) {
            SimulatedComputation& found = computations.emplace_back(SimulatedComputation{key.pass, key.layer, {}});
            if (own <= WorkCounter::least || is_of_passes(key)) return;
            const bool updates = key.pass == WorkPass::optimizer;
            const Seconds busy = time_of_one(plan, stage, key.pass, own);
            found.kernels.push_back({.shape = {.what = updates ? WorkClass::optimizer : WorkClass::parameters},
                                     .launches = 1,
                                     .time = std::max(busy, Seconds{})});
        });
    // Of kernels of one kind: how many, and how long they take.
    for (std::size_t number = 0; number < kinds.size(); ++number) {
        const auto measured = [&](auto measure, auto set) {
            std::size_t at = 0;
            counter.visit(
                [&](const Kernel& kernel) { return numbers.at(kind_of(kernel)) == number ? measure(kernel) : 0.0; },
                [&](const WorkKey& key, double value) {
                    SimulatedComputation& found = computations.at(at++);
                    if (value > WorkCounter::least && is_of_passes(key)) set(found, value);
                });
            WEFT_CHECK(at == computations.size(), "a script has the same actions whatever they take");
        };
        measured([](const Kernel& kernel) { return kernel.launches; },
                 [&](SimulatedComputation& found, double value) {
                     found.kernels.push_back({.shape = kinds[number], .launches = value, .time = {}});
                 });
        measured([&](const Kernel& kernel) { return time_alone(plan, kernel); },
                 [&](SimulatedComputation& found, double value) {
                     const bool has = !found.kernels.empty() && found.kernels.back().shape == kinds[number];
                     if (!has) found.kernels.push_back({.shape = kinds[number], .launches = 1, .time = {}});
                     found.kernels.back().time = Seconds{value};
                 });
    }
    return computations;
}

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
