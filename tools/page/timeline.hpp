// Which part of a run a page shows: a browser draws some ten thousands of slices at once, a run may have millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/critical_path.hpp"
#include "sim/engine/timeline.hpp"
#include "tools/output/json_text.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/recorded/step_comparison.hpp"
#include "workloads/report/simulation.hpp"
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

// `count` of so many at equal distances, ends included.
std::vector<std::size_t> equally_spaced(std::size_t all, std::size_t count);

// An operation of some length, on the clock of nanoseconds; joins have none.
bool is_slice(const Op& op, const Span& span);

// At first, one rank class of each stage. Where that is too much, fewer stages: evenly chosen ones with the first and
// the last among them. Where these two are still too much, the beginning of their step. Besides, what else there is
// room for: the other stages, then further rank classes of the stages.
TimelinePart timeline_part(const Step& step, const Timeline& timeline, const TimelineLimits& limits = {});

// A timeline as the script of that name draws it: slices of lanes, and how busy links are meanwhile.

// Times are integers of nanoseconds. Of each row of the part, by stage ("stages"): its name, whether it is "shown"
// from the start, and its lanes; a lane is a list per property of its slices, in order: "gap" since the end of the
// slice before, "length", "label" (into "labels"), "micro" and "layer", and of exchanges "call" (into "calls") and
// "wait", the part of the gap for which it waited for others. Of a critical `path`, each row has begin and length of
// every stretch on its stage, in turn ("path"). "links": of each class that carries something, the busiest first, the
// share of its bandwidth that is used from each time on, if the simulation recorded it.
Json timeline_data(const Simulation& simulation, const TimelinePart& part, std::span<const PathPiece> path = {});

// A recorded step in the same form, a lane per stream: of its kernels the first `most`, "left_out" says how many there
// are besides. Labels have facts behind the activity, slices no micro-batch; a layer of -1 is none.
Json recorded_timeline(const KinetoTrace& trace, const StepComparison& found, std::size_t most);

// What the script of timelines reads: lanes of slices, and what these have by number.
struct TimelineLane {
    std::string name, dimension = "compute";
    // Of each slice, times in nanoseconds. What slices have none of stays empty.
    std::vector<std::int64_t> gap{}, length{}, label{}, micro{}, layer{}, call{}, wait{};
    std::int64_t end = 0;  // of the last slice

    // Of a slice that begins before the last one ends, what is behind it. A call of -1 is none.
    void add(std::int64_t from, std::int64_t to, std::int64_t what, std::int64_t of_call = -1);
    Json json() const;
};

// The first lane of a name on which nothing is from a time on; a new one behind all if there is none.
TimelineLane& free_lane(std::vector<TimelineLane>& lanes, const std::string& name, std::int64_t from);

// Values, each once, by number in the order of their first use.
template <class Value>
class Numbered {
  public:
    std::int64_t number_of(const Value& value) {
        const auto [known, is_new] = numbers_.try_emplace(value, static_cast<std::int64_t>(values_.size()));
        if (is_new) values_.push_back(value);
        return known->second;
    }
    const std::vector<Value>& values() const { return values_; }

  private:
    std::map<Value, std::int64_t> numbers_;
    std::vector<Value> values_;
};

}  // namespace weft
