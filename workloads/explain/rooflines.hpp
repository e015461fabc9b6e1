// What bounds the work of a rank: of the device, by class of kernel, the roofline model (Williams, Waterman, Patterson,
// "Roofline: an insightful visual performance model", CACM 52, 2009); of the fabric, by dimension and class of link,
// the same idea with line rate for peak.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "workloads/explain/path_causes.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// Kernels of a class in a step of one rank.
struct KernelClassUse {
    std::string name;                       // "attention products"
    Flops flops{};                          // executed
    Bytes bytes{};                          // read and written
    Seconds time{};                         // with the gaps between kernels
    Seconds computing{}, moving{}, gaps{};  // what of it is bound by products, by memory, and neither
    FlopsPerSecond peak{};                  // of their precision; 0 where they have no products

    double intensity() const { return flops.value / bytes.value; }  // FLOP/B; bytes > 0
    FlopsPerSecond achieved() const { return flops / time; }
    BytesPerSecond achieved_memory() const { return bytes / time; }
    std::string_view bound() const;  // "products", "memory" or "gaps between kernels"
};

struct DeviceRoofline {
    FlopsPerSecond peak, sustained;           // of the job's precision; at the clock and plateau that it keeps
    BytesPerSecond memory, sustained_memory;  // nominal; of element-wise kernels
    std::vector<KernelClassUse> kernels{};    // the longest first
    Seconds other{};  // of the device's work: what no kernel of the model is, as copies of parameters

    Seconds busy() const;                                  // the sum
    FlopsPerSecond roof(const KernelClassUse& use) const;  // at its intensity
};

// Calls of a dimension that the same kind of link bounds, in a step of one rank.
struct FabricUse {
    std::string dimension;
    std::string link;  // "channels": a limit of library or protocol before any link's
    std::uint64_t calls = 0;
    Bytes bytes;   // that the busiest of a ring would carry: nccl-tests' bus bandwidth counts them
    Seconds time;  // of calls, from the last arrival to their end, whether or not anybody waits
    Seconds transfer{}, endpoint{}, latency{},
        sharing{};  // that is: links, channels and protocol, latency, what others take
    Seconds line;   // at line rate, alone

    BytesPerSecond achieved() const { return bytes / time; }
    BytesPerSecond line_rate() const { return bytes / line; }  // line > 0
    std::string_view bound() const;                            // "bandwidth", "endpoint", "latency" or "sharing"
};

struct Rooflines {
    std::uint32_t stage = 0;
    DeviceRoofline device;
    std::vector<FabricUse> fabric;  // the longest first
};

DeviceRoofline device_roofline(const Plan& plan, std::uint32_t stage);
// Of the first rank class of the stage.
std::vector<FabricUse> fabric_roofline(const Simulation& run, const PathCauses& causes, std::uint32_t stage);

}  // namespace weft
