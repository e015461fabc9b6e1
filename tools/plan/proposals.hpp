// A search as it is asked for, with what would make it possible where no candidate is without objections.
#pragma once

#include <string>
#include <vector>

#include "tools/plan/layout_search.hpp"
#include "tools/plan/request.hpp"

namespace weft {

// search_layouts(), and proposals() where they are needed. Throws ConfigError as read_space() does.
PlanResult find_layouts(const PlanRequest& request, const SearchOptions& options);

// The nearest numbers of accelerators and batches, below and above, with which some layout can be: "gpus=512",
// "batch.global=2016". Each was tried.
std::vector<std::string> proposals(const PlanRequest& request, const PlanResult& result);

}  // namespace weft
