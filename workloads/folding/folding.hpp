// Which ranks one rank can stand for. Ranks of a stage run the same script; they are one class where placement, speed
// and links make no difference between them (Symmetry finds out), and several where not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/enumerators.hpp"
#include "sim/base/table.hpp"
#include "workloads/groups/families.hpp"

namespace weft {

enum class Folding : std::uint8_t {
    automatic,  // exact where that is foreseen to be soon done (exact_where), by stages elsewhere
    exact,      // ranks that cannot differ in time are one class: the result is that of all ranks on their own
    stages,  // the ranks of a stage are one class, at the pace of its slowest group: exact where groups of a stage are
             // equal, elsewhere within folding_error
    none,    // every rank is its own class: slow, for doubt and for tests
};

inline std::string_view name(Folding folding) { return enumerator_name(folding); }  // "exact"

// How far steps folded by stages lie from exact ones, relative: the most that was measured, rounded up, over 110 jobs
// of 128 and 256 ranks on eleven machines and 15 of 1,024 to 8,192 on five (bench/README.md). A job on Alps is the
// farthest; of the smaller ones Aurora's, whose NICs serve unequal numbers of dies. No proof: where links are shared,
// slower flows may end a step sooner, so no simpler run is known to be faster or slower.
// tests/workloads/folding/folding_error_test.cpp measures some again.
struct FoldingError {
    double step_below = 0.001, step_above = 0.012;
    double exposed = 0.2;  // of exposed communication, more or less
};
inline constexpr FoldingError folding_error;

// One rank class.
struct Cell {
    std::uint32_t stage = 0;
    RankId representative{};
    std::uint32_t weight = 1;
    double slowness = 1.0;  // of its computation: Faults
};

// Why stages are not one class each.
struct Split {
    std::uint32_t classes = 0;  // after it
    std::string reason;
};

struct RankClasses {
    std::vector<Cell> cells;              // by stage, then by representative
    std::vector<std::uint32_t> of_rank;   // cell of each; empty where cells are the stages
    std::vector<std::uint32_t> of_group;  // equal groups have the same number
    std::uint32_t groups = 0;             // how many numbers
    Folding folding = Folding::exact;     // what was done: not automatic
    std::vector<Split> splits;
};

// `folding`: not automatic, which asks how large the step would be (workloads/step).
RankClasses fold(const Plan& plan, const Topology& topology, Families& families, Folding folding);
}  // namespace weft
