// Traffic as files of comma-separated values, lines that begin with # apart.
//
// A list has a line of names, then a message a line: `source`, `destination` (ranks), `bytes` (a number, or as
// "64 KiB") and, if it is there, `start` (when the source calls: seconds, or as "10 us"; 0 if empty or absent).
// A matrix has a line for each source, with what it sends to each destination, in bytes; nothing on the diagonal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/traffic/rank_message.hpp"

namespace weft {

struct RankMessages {
    std::uint32_t ranks = 0;  // that the file is about: one more than its largest, or rows of its matrix
    std::vector<RankMessage> messages{};
};

// `most_ranks`: ranks there may be. Throw ConfigError: every mistake at its cell, and nothing to send.
RankMessages read_message_list(std::string file, std::string_view text, std::uint32_t most_ranks);
RankMessages read_traffic_matrix(std::string file, std::string_view text, std::uint32_t most_ranks);

}  // namespace weft
