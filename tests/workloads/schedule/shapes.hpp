// The shapes that every schedule is tried on, and how a slot is written in these tests.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "workloads/schedule/schedule.hpp"

namespace weft {

inline const std::vector<std::uint32_t> stage_counts = {1, 2, 3, 4, 8, 16, 32, 64};

inline bool joins(const Schedule& schedule, std::uint32_t stages) {
    return schedule.joins == Schedule::Joins::always ||
           (schedule.joins == Schedule::Joins::without_pipeline && stages == 1);
}

// Micro-batch counts around every threshold of a schedule, with model parts per stage, of a pipeline of `stages`;
// shapes with an obstacle among them.
inline std::vector<PipelineShape> shapes(const Schedule& schedule, std::uint32_t stages) {
    const std::set<std::uint32_t> micro_batches = {
        1, 2, 5, 8, stages, stages + 1, 2 * stages - 1, 2 * stages, 2 * stages + 2, 4 * stages};
    const std::vector<std::uint32_t> chunks =
        schedule.chunks == 0 ? std::vector<std::uint32_t>{1, 2, 3, 5} : std::vector{schedule.chunks};
    std::vector<PipelineShape> all;
    for (const std::uint32_t m : micro_batches) {
        for (const std::uint32_t v : chunks) {
            all.push_back({stages, m, v});
            if (joins(schedule, stages)) all.push_back({stages, m, v, PassOrder::joint});
        }
    }
    return all;
}

// Those that the schedule runs.
inline std::vector<PipelineShape> legal_shapes(const Schedule& schedule, std::uint32_t stages) {
    std::vector<PipelineShape> legal;
    for (const PipelineShape& shape : shapes(schedule, stages)) {
        if (schedule.obstacle(shape).empty()) legal.push_back(shape);
    }
    return legal;
}

inline std::string text(const PipelineShape& shape) {
    return fmt::format("{} stages, {} micro-batches, {} chunks{}", shape.stages, shape.micro_batches, shape.chunks,
                       shape.passes == PassOrder::joint ? ", joint passes" : "");
}

// "F0.1 B2 W2": forward of micro-batch 0 on chunk 1, whole backward (I: of the activations only), weights' gradient.
inline std::string text(const std::vector<Slot>& slots) {
    std::string line;
    for (const Slot& slot : slots) {
        if (!line.empty()) line += ' ';
        line += fmt::format("{}{}", "FBIW"[static_cast<std::size_t>(slot.kind)], slot.micro_batch);
        if (slot.chunk != 0) line += fmt::format(".{}", slot.chunk);
    }
    return line;
}

}  // namespace weft
