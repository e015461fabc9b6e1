#include "workloads/recorded/simulated_kernels.hpp"

#include <algorithm>
#include <map>

#include "sim/base/check.hpp"
#include "workloads/plan/update.hpp"

namespace weft {
namespace {

// Kernels that a profiler tells apart by their launching operations and shapes.
ProductShape kind_of(const Kernel& kernel) {
    const WorkClass what = work_class(kernel);
    if (kernel.kind != KernelKind::gemm) return {0, 0, 0, 0, what};
    return {kernel.m, kernel.n, kernel.k, kernel.count, what};
}

}  // namespace

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
            const Seconds busy =
                updates ? passes_of_update(plan, plan.stages[stage]) : Seconds{own} - plan.device.kernel_launch;
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
        measured(
            [&](const Kernel& kernel) {
                return kernel_time(plan.device, plan.job.precision, kernel).value -
                       plan.device.kernel_launch.value * kernel.launches;
            },
            [&](SimulatedComputation& found, double value) {
                const bool has = !found.kernels.empty() && found.kernels.back().shape == kinds[number];
                if (!has) found.kernels.push_back({.shape = kinds[number], .launches = 1, .time = {}});
                found.kernels.back().time = Seconds{value};
            });
    }
    return computations;
}

}  // namespace weft
