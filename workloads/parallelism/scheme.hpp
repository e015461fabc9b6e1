// One kind of parallelism: its axis of the rank grid, what it demands of a job, what it cuts, and the calls that its
// ranks make. One file per scheme, workloads/parallelism/<file>.cpp.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// What ranks do around a piece of a layer, the embedding or the head in one pass, beside computing it.
struct Around {
    std::vector<Call> before, after;  // one after another: the piece waits for those, what follows it for these
    // The piece is computed in as many equal rounds, each beside its calls.
    std::vector<std::vector<Call>> rounds;
    // Backward: under the input's gradient; and what that gradient goes through when it is there, after the weights'
    // gradient or under it, as the framework has it (Framework::input_reduction).
    std::vector<Call> beside, sums;
    double overlap = 0;  // share of the piece's product with parameters that runs under `before` and `after`
};

struct Scheme {
    std::string_view axis;  // key under "layout"
    // Where its ranks come from: they multiply the job's, they are what the other axes leave, or they are cut out of
    // the ranks of other axes.
    enum class Ranks : std::uint8_t { own, rest, shared } ranks = Ranks::own;
    // Which dense parameters its ranks hold: parts of a layer or some of the layers, or all the same ones, whose
    // gradients are then summed over them as over data ranks.
    enum class Holds : std::uint8_t { parts, copies } holds = Holds::parts;
    std::uint32_t place = 0;                // among the axes of the rank grid, innermost first
    std::uint32_t Layout::*size = nullptr;  // nullptr: one of further_axes(), whose ranks are always own
    // Appends why the job cannot be split over `job.layout.<axis>` ranks.
    void (*check)(const Job& job, const MachineInfo& machine, const Refusals& refuse) = nullptr;
    // Cuts what a rank computes and holds.
    void (*shard)(const Job& job, Shard& shard) = nullptr;
    // Appends to what ranks do around `piece`. Pass::forward or Pass::backward: recomputation is forward once more.
    void (*around)(const Job& job, Piece piece, Pass pass, Around& around) = nullptr;
    // Appends sums of gradients that its ranks hold apart, before the optimizer of a stage with these modules.
    void (*finish)(const Job& job, std::span<const StageModule> modules, std::vector<Call>& calls) = nullptr;
};

namespace parallelism {
std::span<const Scheme* const> all();
}

inline const Scheme* find_scheme(std::string_view axis) {  // nullptr if unknown
    return first_of(parallelism::all(), [&](const Scheme* each) { return each->axis == axis; });
}
inline std::vector<const Scheme*> schemes_by_place() {
    std::vector<const Scheme*> schemes(parallelism::all().begin(), parallelism::all().end());
    std::ranges::stable_sort(schemes, {}, &Scheme::place);
    return schemes;
}

}  // namespace weft
