// What a rank of a simulated step computes, by pass, layer and class: the counterpart of a recorded one.
#pragma once

#include <compare>
#include <cstdint>
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
};

struct SimulatedWork {
    std::map<WorkKey, WorkSum> sums;
    std::vector<ProductShape> products;       // different ones
    Seconds host_forward{}, host_backward{};  // that the host takes to issue a layer, mean over those of the stage

    // Where frameworks fuse passes, all of them are, and are told from products and attention alone.
    bool fuses_passes() const;
};

enum class WorkDetail : std::uint8_t { all, times };  // the rest of a WorkSum is left at 0

// Of one step of a rank of a stage, as if it met nobody.
SimulatedWork simulated_work(const Plan& plan, std::uint32_t stage, WorkDetail detail = WorkDetail::all);

}  // namespace weft
