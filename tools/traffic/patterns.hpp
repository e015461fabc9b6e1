// Patterns of traffic by name: who sends to whom, a message each, all at once.
//
//   shift, shift:K         rank r to rank r + K, round (K: 1 if absent)
//   permutation[:SEED]     every rank to one other, which hears of nobody else: a cycle by chance (SEED: 0 if absent)
//   incast, incast:N       ranks 1 to N to rank 0 (N: all others if absent)
//   neighbors              rank r to r - 1 and r + 1, round
//   bisection              rank r to the one half of all ranks away, both ways
//   uniform                every rank to every other
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/traffic/rank_message.hpp"

namespace weft {

std::vector<std::string> traffic_pattern_names();

[[noreturn]] void refuse_so_many();  // messages: po::error

// Among `ranks` ranks. Throws po::error for a pattern that is not known, that has nothing to send among so many,
// or more than most_rank_messages.
std::vector<RankMessage> traffic_pattern(std::string_view text, std::uint32_t ranks, Bytes size);

}  // namespace weft
