// What a rank of a simulated step computes, by pass, layer and class: the counterpart of a recorded one.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "workloads/plan/plan.hpp"
#include "workloads/recorded/recorded_step.hpp"
#include "workloads/recorded/simulated_ranks.hpp"

namespace weft {

struct WorkKey {
    WorkPass pass{};
    std::int32_t layer = no_layer;
    WorkClass what{};

    auto operator<=>(const WorkKey&) const = default;
};

struct WorkSum {
    double kernels = 0;
    Seconds time{};  // of kernels alone
    Seconds gaps{};  // between them, and where the host is slower than they
    Flops flops{};   // executed
    Bytes bytes{};   // read and written
};

struct ProductShape {
    double m = 0, n = 0, k = 0, count = 1;
    WorkClass what{};

    auto operator<=>(const ProductShape&) const = default;
};

struct SimulatedWork {
    std::map<WorkKey, WorkSum> sums;
    std::vector<ProductShape> products;       // different ones
    Seconds host_forward{}, host_backward{};  // that the host takes to issue a layer, mean over those of the stage
    bool fuses_passes = true;  // where frameworks fuse passes, all are, and told from products and attention alone

    // The class in which a recorded and a simulated kernel meet: where passes are fused, `fused` for any of them.
    WorkClass compared(WorkClass what) const { return fuses_passes && is_pass(what) ? WorkClass::fused : what; }
};

constexpr bool is_of_passes(const WorkKey& key) { return key.pass <= WorkPass::backward; }

// Sums over what a rank of a stage computes in a step. A script adds up times of lists of kernels, and nothing else:
// with another measure of a kernel in the place of its time it adds that up instead, over all that a step repeats.
class WorkCounter {
  public:
    static constexpr double least = 1e-40;  // what measures less is nothing

    WorkCounter(const Plan& plan, std::uint32_t stage);

    // Calls see(key without class, sum) for each computation of the script, in order.
    void visit(const std::function<double(const Kernel&)>& measure, const std::function<void(WorkKey, double)>& see);
    // Calls add(key without class, sum) for those with any.
    void sum(const std::function<double(const Kernel&)>& measure, const std::function<void(WorkKey, double)>& add);

  private:
    Plan plan_;
    std::uint32_t stage_;
};

enum class WorkDetail : std::uint8_t { all, times };  // the rest of a WorkSum is left at 0

// Of one step of a rank of a stage, as if it met nobody.
SimulatedWork simulated_work(const Plan& plan, std::uint32_t stage, WorkDetail detail = WorkDetail::all);

// The kernels that the computations of a simulated rank consist of, one by one, as a profiler would see them, and when
// its host issues them. A pass ends with what its launches take, where the step has a stream of the host; elsewhere the
// host is ahead of the device.
// Kernels of one kind in a computation; m, n, k and count of a product, 0 of others.
struct SimulatedKernel {
    ProductShape shape{};
    double launches = 0;
    Seconds time{};  // of all of them together, without what lies between

    double whole_launches() const { return std::max(1.0, std::round(launches)); }
};

struct SimulatedComputation {
    WorkPass pass{};
    std::int32_t layer = no_layer;
    std::vector<SimulatedKernel> kernels;  // in the order of a layer's
};

// Kernels of one computation, as a profiler would count them.
inline double launches(const SimulatedComputation& what) {
    return sum_of<double>(what.kernels, [&](const SimulatedKernel& kernel) { return kernel.whole_launches(); });
}

// Of each action of the stage's script that computes, in order. Where no list of kernels is behind one, as in updates
// and casts of parameters, it is one kernel.
std::vector<SimulatedComputation> simulated_kernels(const Plan& plan, std::uint32_t stage);

// Of the kernels of a node, in ns of the step's clock.
struct HostIssue {
    std::int64_t begin = -1;  // of the first; -1: as soon as those before are issued
    double each = 0;          // that the host takes for one
    std::int64_t end = 0;     // until when the device is busy with them, or waits for them
};

// The host, for the device.
struct HostWait {
    std::int64_t begin = 0, end = 0;
};

struct SimulatedHost {
    std::vector<const SimulatedComputation*> computations;  // by node; null: none of the device
    std::vector<HostIssue> issues;                          // by node
    std::vector<HostWait> waits;                            // in order
};

// `kernels`: simulated_kernels() of the rank's stage, which must outlive the result.
SimulatedHost simulated_host(const Plan& plan, const Script& script, const SimulatedRank& rank,
                             const std::vector<SimulatedComputation>& kernels);

}  // namespace weft
