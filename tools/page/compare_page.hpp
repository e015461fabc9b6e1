// Jobs side by side as a page: what they say differently, their figures, where the difference in time comes from, and
// their timelines on one axis.
#pragma once

#include <string>

#include "tools/explain/job_comparison.hpp"

namespace weft {

struct ComparePageText {
    std::string title;    // "today and tomorrow"
    std::string command;  // that made it: "weft compare today.json tomorrow.json"
};

// Links over time are there if the simulations recorded them (Recording::spans_and_links).
std::string compare_page(const JobComparison& comparison, const ComparePageText& text);

}  // namespace weft
