// What `weft traffic` is asked and what it tells, as values.
#pragma once

#include <boost/program_options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "tools/collective/collective.hpp"
#include "topologies/message_traffic.hpp"

namespace weft {

// What traffic is asked, before it lies on a machine: as a pattern, or as a file.

inline constexpr std::size_t most_rank_messages = 1U << 20U;  // uniform among 1,024 ranks, which takes 1.4 GiB

struct RankMessage {
    std::uint32_t from = 0, to = 0;  // ranks as the job counts them
    Bytes bytes{};
    Seconds start{};
};

// Patterns of traffic by name: who sends to whom, a message each, all at once.
//
//   shift, shift:K         rank r to rank r + K, round (K: 1 if absent)
//   permutation[:SEED]     every rank to one other, which hears of nobody else: a cycle by chance (SEED: 0 if absent)
//   incast, incast:N       ranks 1 to N to rank 0 (N: all others if absent)
//   neighbors              rank r to r - 1 and r + 1, round
//   bisection              rank r to the one half of all ranks away, in both directions
//   uniform                every rank to every other
std::vector<std::string> traffic_pattern_names();

[[noreturn]] void refuse_so_many();  // messages: OptionError

// Among `ranks` ranks. Throws OptionError for a pattern that is not known, that has nothing to send among so many,
// or more than most_rank_messages.
std::vector<RankMessage> traffic_pattern(std::string_view text, std::uint32_t ranks, Bytes size);

// Traffic as files of comma-separated values, lines that begin with # apart.
//
// A list has a line of names, then a message a line: `source`, `destination` (ranks), `bytes` (a number, or as
// "64 KiB") and, if it is there, `start` (when the source calls: seconds, or as "10 us"; 0 if empty or absent).
// A matrix has a line for each source, with what it sends to each destination, in bytes; nothing on the diagonal.
struct RankMessages {
    std::uint32_t ranks = 0;  // that the file is about: one more than its largest, or rows of its matrix
    std::vector<RankMessage> messages{};
};

// `most_ranks`: ranks there may be. Throw ConfigError: every mistake at its cell, and nothing to send.
RankMessages read_message_list(std::string file, std::string_view text, std::uint32_t most_ranks);
RankMessages read_traffic_matrix(std::string file, std::string_view text, std::uint32_t most_ranks);

struct TrafficRequest {
    Machine machine;
    const Library* library = nullptr;  // of `machine`
    std::string pattern{};             // as asked: "shift:8", or the file
    SetLayout layout{};
    Fabric fabric{};
    Preference preference{};
    Calls calls = Calls::blocking;
    std::vector<RankMessage> messages{};
};

// Throws OptionError; ConfigError for files.
TrafficRequest traffic_request(const boost::program_options::variables_map& arguments);

// What `weft traffic` tells, as values.
struct TrafficLinkFacts {
    std::string from, to;  // names of vertices
    std::string link_class;
    std::uint32_t messages = 0, bound = 0;  // see CarryingLink
    Bytes bytes{};
    double busy = 0.0;  // share of the whole time that the link needs for what it carries
};

// By nearest rank.
struct TrafficSpread {
    double least = 0.0, median = 0.0, most = 0.0;
};

struct TrafficFacts {
    Bytes bytes{};          // of all messages
    Bytes link_bytes{};     // that links carried: of each message on every link of its route
    TrafficSpread rates{};  // bytes/s of messages while their bytes are in transfer
    TrafficSpread times{};  // s, from call to arrival
    TrafficRun run;
    bool meets_others = false;                // whether any of these carries other traffic, too
    std::vector<TrafficLinkFacts> busiest{};  // at most as many as asked
};

// Throws RangeError as run_traffic() does.
TrafficFacts traffic_facts(const TrafficRequest& request, std::size_t top);

}  // namespace weft
