// Searches for the fastest layout: every candidate screened, the best by screening simulated. The same result for any
// number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "workloads/search/plan_result.hpp"

namespace weft {

// As many as `weft plan` simulates where nothing else is said, and on to as many where others may be the best.
inline constexpr unsigned usual_simulations = 16, most_usual_simulations = 128;

struct SearchOptions {
    std::size_t simulations = 16;       // of those that fit, the best by screening; then on, so many at a time, while
    std::size_t most_simulations = 16;  // others may be the best, as far as screening errs: up to this many
    Searched searched = Searched::runnable;
    bool every = false;  // all that fit are timed in closed form, also those that bounds rule out
    unsigned threads = 1;
    // Hears of what was done of what is to be done, from any thread, one at a time.
    std::function<void(std::size_t done, std::size_t count)> progress{};
};

// `base_assignments`: what made the bases of the space out of one job file.
PlanResult search_layouts(SearchSpace space, std::vector<std::vector<std::string>> base_assignments,
                          const SearchOptions& options);

}  // namespace weft
