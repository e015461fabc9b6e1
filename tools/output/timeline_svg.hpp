// The timeline of a run as a picture: a self-contained SVG, light or dark as the reader's system is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

struct TimelineSvgOptions {
    std::string title{};                 // "GPT-NeoX-20B on 128 GCDs of Frontier"
    std::vector<RankClassId> classes{};  // to show; empty: all
};

// One row per rank class, computation above a thin strip of communication; of more than 24 classes, evenly
// chosen ones, which the picture says. Coarse where there is much to draw, so that it stays below some 200 kB.
std::string timeline_svg(const Program& program, const Timeline& timeline, const TimelineSvgOptions& options = {});

// What a rank class is busy with over time, at the resolution of a picture: equal time bins, and in each the kind of
// work that fills most of it.

enum class Activity : std::uint8_t { forward, backward, weights, recompute, optimizer, other, communication };
inline constexpr std::size_t activities = 7;

// Of computation by the words of its label, `weights` where it is of their gradients alone; every exchange is
// communication.
Activity activity_of(const Program& program, const Op& op);

// `length` bins from `first` on, in which `activity` is the main one and fills `level` quarters of the time.
struct ActivityRun {
    static constexpr std::uint8_t full = 4;

    std::size_t first = 0, length = 0;
    Activity activity{};
    std::uint8_t level = full;

    bool operator==(const ActivityRun&) const = default;
};

struct ActivityRow {
    std::vector<ActivityRun> compute, communication;  // by time, without overlap; bins that are idle are in none
};

// The step of one rank class in `bins` bins. Time spent waiting for others is idle.
ActivityRow activity_row(const Program& program, const Timeline& timeline, RankClassId rank_class, std::size_t bins);

}  // namespace weft
