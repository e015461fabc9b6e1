#include "workloads/recorded/computation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft {

void scale_computation(RecordedProgram& program, double factor) {
    for (RecordedRank& rank : program.ranks) {
        for (RecordedNode& node : rank.nodes) {
            if (node.kind == RecordedKind::compute) node.time *= factor;
        }
    }
}

void compute_on(RecordedProgram& program, const Device& device) {
    const FlopsPerSecond rate{device.peak(Precision::bf16).value * device.sustained_clock * device.gemm.plateau};
    std::size_t computations = 0, untold = 0;
    for (RecordedRank& rank : program.ranks) {
        for (RecordedNode& node : rank.nodes) {
            if (node.kind != RecordedKind::compute || rank.units[node.unit].is_host) continue;
            ++computations;
            if (node.flops == Flops{} && node.bytes == Bytes{}) {
                ++untold;
                continue;
            }
            const Seconds moved = node.bytes / (device.memory_bandwidth * device.memory_efficiency);
            node.time = device.kernel_launch + std::max(node.flops / rate, moved);
        }
    }
    if (untold == 0) return;
    program.notes.push_back(fmt::format(
        "{} of {} computations tell neither FLOPs nor bytes: they take as long as recorded", untold, computations));
}

}  // namespace weft
