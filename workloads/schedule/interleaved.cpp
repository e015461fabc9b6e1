// Interleaved 1F1B (Narayanan et al., arXiv 2104.04473, section 2.2) as Megatron-core 0.8.0 orders it
// (pipeline_parallel/schedules.py): every stage holds v model parts, micro-batches pass in groups of p through one part
// after the other. Bubble (p - 1)(F + B) / v with F, B the times of a whole stage.
#include <fmt/core.h>

#include <algorithm>

#include "workloads/schedule/schedule.hpp"

namespace weft::schedule {

static std::string interleaved_obstacle(const PipelineShape& shape) {
    if (shape.stages < 2) return fmt::format("interleaving needs at least 2 pipeline stages, not {}", shape.stages);
    if (shape.chunks < 2) {
        return fmt::format("interleaving needs at least 2 model parts per stage, not {}", shape.chunks);
    }
    if (shape.micro_batches % shape.stages != 0) {
        return fmt::format("interleaving needs a multiple of the {} pipeline stages as micro-batches, not {}",
                           shape.stages, shape.micro_batches);
    }
    return {};
}

// Around all stages for one model part each, then around again.
static std::vector<Place> interleaved_path(const PipelineShape& shape, std::uint32_t) {
    std::vector<Place> places;
    places.reserve(std::size_t{shape.stages} * shape.chunks);
    for (std::uint32_t chunk = 0; chunk < shape.chunks; ++chunk) {
        for (std::uint32_t stage = 0; stage < shape.stages; ++stage) places.push_back({stage, chunk});
    }
    return places;
}

// The k-th slot of one kind; backward walks the parts in the opposite order.
static Slot numbered(const PipelineShape& shape, SlotKind kind, std::uint32_t k) {
    const std::uint32_t group = shape.stages * shape.chunks;
    const std::uint32_t part = k % group / shape.stages;
    return {kind, k / group * shape.stages + k % shape.stages,
            kind == SlotKind::forward ? part : shape.chunks - 1 - part};
}

// Forwards before the first backward. As many micro-batches as stages: all of them (0.8.0; later versions not). One
// more where passes are joint, so that no forward makes what the backward beside it needs (0.14.0,
// get_pp_rank_microbatches).
static std::uint32_t warm_up(const PipelineShape& shape, std::uint32_t stage) {
    const std::uint32_t total = shape.micro_batches * shape.chunks;
    const bool joint = shape.passes == PassOrder::joint;
    if (shape.micro_batches == shape.stages && !joint) return total;
    return std::min(2 * (shape.stages - stage - 1) + (shape.chunks - 1) * shape.stages + (joint ? 1 : 0), total);
}

static std::vector<Slot> interleaved_slots(const PipelineShape& shape, std::uint32_t stage) {
    const std::uint32_t total = shape.micro_batches * shape.chunks, ahead = warm_up(shape, stage);
    std::vector<Slot> order;
    order.reserve(std::size_t{2} * total);
    for (std::uint32_t k = 0; k < ahead; ++k) order.push_back(numbered(shape, SlotKind::forward, k));
    for (std::uint32_t k = 0; k < total; ++k) {
        if (ahead + k < total) {
            order.push_back(numbered(shape, SlotKind::forward, ahead + k));
            if (shape.passes == PassOrder::joint) order.back().runs = Slot::Runs::with_next;
        }
        order.push_back(numbered(shape, SlotKind::backward, k));
    }
    return order;
}

extern const Schedule interleaved{.key = "interleaved",
                                  .summary = "1F1B over several model parts per stage",
                                  .chunks = 0,
                                  .handover = Schedule::Handover::beside,
                                  .needs = {.several_parts = true},
                                  .joins = Schedule::Joins::always,
                                  .obstacle = interleaved_obstacle,
                                  .path = interleaved_path,
                                  .slots = interleaved_slots};

}  // namespace weft::schedule
