// Which part of a run a page shows: a browser draws some ten thousands of slices at once, a run may have millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

struct TimelineLimits {
    std::size_t slices = 60'000;         // shown at first
    std::size_t stages = 16;             // shown at first
    std::size_t held = 120'000;          // slices in the page
    std::size_t rows = 64;               // in the page
    std::vector<std::uint32_t> asked{};  // stages to show at first, ascending; empty: evenly chosen ones
};

struct TimelinePart {
    std::vector<RankClassId> classes;  // shown at first: the first rank class of each chosen stage
    std::vector<RankClassId> further;  // to be chosen by the reader, in the order of ids
    std::size_t stages = 0;            // that there are
    std::size_t rank_classes = 0;      // that there are
    Instant until;                     // slices that begin from here on are left out; past the end: none
    std::size_t slices = 0;            // shown at first
    std::size_t left_out = 0;          // of the classes shown at first
};

// An operation of some length, on the clock of nanoseconds; joins have none.
bool is_slice(const Op& op, const Span& span);

// At first, one rank class of each stage. Where that is too much, fewer stages: evenly chosen ones with the first and
// the last among them. Where these two are still too much, the beginning of their step. Besides, what else there is
// room for: the other stages, then further rank classes of the stages.
TimelinePart timeline_part(const Step& step, const Timeline& timeline, const TimelineLimits& limits = {});

}  // namespace weft
