// Nodes of a recorded program that wait, in the numbers of all nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/recorded/checks.hpp"
#include "workloads/recorded/program.hpp"

namespace weft {

// For how many others each node waits.
inline std::vector<std::uint32_t> counts_of_dependencies(const RecordedProgram& program) {
    std::vector<std::uint32_t> counts;
    counts.reserve(program.nodes());
    for (const RecordedRank& rank : program.ranks) {
        for (std::size_t i = 0; i < rank.nodes.size(); ++i) {
            counts.push_back(rank.first_dependency[i + 1] - rank.first_dependency[i]);
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
                for (std::uint32_t d = one.first_dependency[i]; d < one.first_dependency[i + 1]; ++d) {
                    const NodeDependency on = one.dependencies[d];
                    see(first + on.node, {first + i, on.on_begin});
                }
            }
        }
    }

    std::vector<std::uint32_t> first_;
    std::vector<NodeDependency> after_;
};

// Nodes that wait for their turn, first in, first out.
class NodeQueue {
  public:
    bool empty() const { return first_ == nodes_.size(); }
    void push(std::uint32_t node) { nodes_.push_back(node); }
    std::uint32_t pop() {
        const std::uint32_t node = nodes_[first_++];
        if (first_ == nodes_.size()) nodes_.clear(), first_ = 0;
        return node;
    }

  private:
    std::vector<std::uint32_t> nodes_;
    std::size_t first_ = 0;
};

}  // namespace weft
