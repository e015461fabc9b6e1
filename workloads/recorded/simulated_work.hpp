// What a rank of a simulated step computes, by pass, layer and class: the counterpart of a recorded one.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "workloads/plan/plan.hpp"
#include "workloads/recorded/recorded_step.hpp"

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

}  // namespace weft
