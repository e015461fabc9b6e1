// Which part of a run a page shows: a browser draws some ten thousands of slices at once, a run may have millions.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

struct TimelineLimits {
    std::size_t slices = 60'000;
    std::size_t stages = 16;
};

struct TimelinePart {
    std::vector<RankClassId> classes;  // the first rank class of each chosen stage
    std::size_t stages = 0;            // that there are
    Instant until;                     // slices that begin from here on are left out; past the end: none
    std::size_t slices = 0;            // shown
    std::size_t left_out = 0;          // of the chosen classes
};

// An operation of some length, on the clock of nanoseconds; joins have none.
bool is_slice(const Op& op, const Span& span);

// One rank class of each stage. Where that is too much, fewer stages: evenly chosen ones with the first and the last
// among them. Where these two are still too much, the beginning of their step.
TimelinePart timeline_part(const Step& step, const Timeline& timeline, const TimelineLimits& limits = {});

}  // namespace weft
