// Which jobs a page is made of while somebody waits.
#pragma once

#include <cstdint>

#include "workloads/job/job.hpp"

namespace weft {

inline constexpr std::uint64_t most_ranks_of_page = 1U << 18U;
// On all ranks that may be simulated apart: with the page at most some 1.2 GB, and mostly a quarter of it.
inline constexpr double most_operations_of_page = 1e7;
// Of a step whose layout is searched: every division of them is looked at.
inline constexpr std::uint64_t most_sequences_of_search = 1'000'000;

// Throw ConfigError with the numbers: a job beyond these is one for the command line.
void check_page_size(const Job& job);
void check_search_size(const Job& job);

}  // namespace weft
