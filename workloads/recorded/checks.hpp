// Who meets whom in a recorded program, found before it runs: collectives by their place in the calls of their group,
// messages by sender, receiver and tag, each in the order of the file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/recorded/program.hpp"

namespace weft {

inline constexpr std::uint32_t no_meeting = ~0U;

// A collective with its members, or a message with its sender and its receiver.
struct Meeting {
    std::uint32_t first = 0, parties = 0;  // of Meetings::parties
};

struct Meetings {
    std::vector<std::uint32_t> first_node{};  // of each rank, in the numbers of all nodes; last: how many there are
    std::vector<Meeting> meetings{};
    std::vector<std::uint32_t> parties{};  // nodes, in the order of members; of a message first the sender
    std::vector<std::uint32_t> of_node{};  // meeting of each node; no_meeting: it meets nobody

    std::span<const std::uint32_t> of(const Meeting& meeting) const {
        return std::span(parties).subspan(meeting.first, meeting.parties);
    }
    std::uint32_t rank_of(std::uint32_t node) const;
    const RecordedNode& node(const RecordedProgram& program, std::uint32_t number) const {
        const std::uint32_t rank = rank_of(number);
        return program.ranks[rank].nodes[number - first_node[rank]];
    }
};

// Throws a ConfigError with all that is wrong: ranks without a file, nodes that wait for one another in a circle,
// groups with ranks that there are not, calls of unequal operation, size or number, messages without a partner.
Meetings meet(const RecordedProgram& program);

}  // namespace weft
