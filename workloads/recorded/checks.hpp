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

// For how many others each node waits.
inline std::vector<std::uint32_t> counts_of_dependencies(const RecordedProgram& program) {
    std::vector<std::uint32_t> counts;
    counts.reserve(program.nodes());
    for (const RecordedRank& rank : program.ranks) {
        for (std::size_t i = 0; i < rank.nodes.size(); ++i) {
            counts.push_back(static_cast<std::uint32_t>(rank.dependencies_of(i).size()));
        }
    }
    return counts;
}

// Who waits for each node: its dependencies turned round.
class Successors {
  public:
    Successors(const RecordedProgram& program, const Meetings& meetings) : first_(meetings.of_node.size() + 1, 0) {
        each(program, meetings, [this](std::uint32_t before, NodeDependency) { ++first_[before + 1]; });
        for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
        after_.resize(first_.back());
        each(program, meetings,
             [this](std::uint32_t before, NodeDependency after) { after_[first_[before]++] = after; });
        first_.insert(first_.begin(), 0);  // each start has moved to its end, where the next one begins
        first_.pop_back();
    }

    std::span<const NodeDependency> of(std::uint32_t node) const {
        return std::span(after_).subspan(first_[node], first_[node + 1] - first_[node]);
    }

  private:
    template <class See>  // see(node that is waited for, node that waits)
    static void each(const RecordedProgram& program, const Meetings& meetings, See see) {
        for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
            const RecordedRank& one = program.ranks[rank];
            const std::uint32_t first = meetings.first_node[rank];
            for (std::uint32_t i = 0; i < one.nodes.size(); ++i) {
                for (const NodeDependency on : one.dependencies_of(i)) see(first + on.node, {first + i, on.on_begin});
            }
        }
    }

    std::vector<std::uint32_t> first_;
    std::vector<NodeDependency> after_;
};

}  // namespace weft
