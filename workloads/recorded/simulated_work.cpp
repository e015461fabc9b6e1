#include "workloads/recorded/simulated_work.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "workloads/plan/update.hpp"
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

std::vector<ProductShape> shapes_of(const std::vector<Kernel>& kernels) {
    std::vector<ProductShape> shapes;
    std::set<ProductShape> known;
    for (const Kernel& kernel : kernels) {
        const ProductShape shape{kernel.m, kernel.n, kernel.k, kernel.count, work_class(kernel)};
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

}  // namespace

WorkCounter::WorkCounter(const Plan& plan, std::uint32_t stage) : plan_(plan), stage_(stage) {
    plan_.device.host_launch = {};  // what waits for the host is no kernel
}

void WorkCounter::visit(const std::function<double(const Kernel&)>& measure,
                        const std::function<void(WorkKey, double)>& see) {
    plan_.costs = part_costs(plan_, [&](std::span<const Kernel> kernels) {
        Seconds sum;
        for (const Kernel& kernel : kernels) sum += Seconds{measure(kernel) + presence};
        return sum;
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
            const Seconds busy =
                updates ? passes_of_update(plan, plan.stages[stage]) : Seconds{seconds} - plan.device.kernel_launch;
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
        count(
            [&](const Kernel& kernel) {
                return kernel_time(device, plan.job.precision, kernel).value -
                       device.kernel_launch.value * kernel.launches;
            },
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

}  // namespace weft
