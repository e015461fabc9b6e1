// Why a step takes as long as it does: its critical path through ranks, lanes, exchanges and links, by cause.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "workloads/explain/path_causes.hpp"
#include "workloads/explain/rooflines.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

struct ExplainedCause {
    Cause cause;
    std::int64_t ticks = 0;
    std::int64_t elsewhere = 0;  // of these, on other stages than the path's main one: a pipeline's fill and drain
};

// A stretch of the path: one rank class at work on layers, or in calls of one other dimension.
struct PathStretch {
    std::string text;  // for people
    std::string rank_class;
    RankId rank{};  // that stands for its class
    std::uint32_t stage = 0;
    Instant begin, end;
    Cause cause;  // the largest in it
};

// Calls of one dimension and operation off the path: how much longer they all could take before they are on it.
struct Slack {
    std::string dimension, op;
    std::uint64_t calls = 0;
    Seconds transfer;       // sum over ranks that were simulated
    Seconds least, median;  // slack of a call
};

struct Explanation {
    Instant end;                         // of the step: the sum of the causes' ticks
    std::uint32_t main_stage = 0;        // on which the path is longest
    std::vector<ExplainedCause> causes;  // the longest first
    std::vector<PathPiece> path;         // in order of time
    std::vector<PathStretch> stretches;  // the longest ones, the longest first
    std::vector<Slack> slack;            // the tightest first
    // Of the ticks of sharing, those of calls that cross links of a class: what one call shares may be any of its
    // links.
    Table<LinkClassId, std::int64_t> shared;
    Rooflines rooflines;  // of a rank of the main stage

    std::int64_t elsewhere() const;
};

// A step with its folded program beside the one of single ops.
struct ExplainedStep {
    Simulation run;  // every op by itself
    Step folded;
};

// Simulates make_plan(study) on its topology. `options.kept` does not matter.
ExplainedStep simulate_to_explain(const Study& study, SimulationOptions options,
                                  std::unique_ptr<PreparedTopology> prepared);

Explanation explain(const Study& study, const ExplainedStep& step);

// Pieces that follow one another on one rank class and belong to the layers (computation, the calls of tensor, context
// and expert ranks between, and what stages hand over), to the optimizer, or to one other dimension are one stretch.
// The `most` longest are told, the longest first.
std::vector<PathStretch> longest_stretches(const Simulation& run, std::span<const PathPiece> path,
                                           const PathCauses& causes, std::size_t most);

}  // namespace weft
