// A search for layouts as a page: step time against memory with the front of those that nothing beats in both, the
// candidates as a table, and why the others were refused.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "tools/page/sweep_page.hpp"
#include "tools/plan/launch.hpp"

namespace weft {

// What the rows do not tell.
struct PlanPageFacts {
    // "weft simulate job.json": with --set of a row's keys, what simulates a candidate.
    std::string simulate{};
    // Of screened over simulated times, less one; absolute. 0 where nothing was simulated.
    double mean_error = 0, largest_error = 0;
    std::map<std::size_t, LaunchFiles> files{};  // by row
};

// A row per candidate. Columns of kind key name the layout; these are known by name:
//   step_time_s        simulated; absent of what was not
//   screened_time_s    in closed form; absent of what does not fit (such a column may be missing)
//   memory_peak_bytes
//   verdict, reason    notes: counted, and told of candidates without a time
// The page keeps the most_kept_candidates with the shortest steps, simulated ones first, and says of how many.
inline constexpr std::size_t most_kept_candidates = 3000;
std::string plan_page(const ResultPageText& text, const ResultTable& table, const PlanPageFacts& facts);

}  // namespace weft
