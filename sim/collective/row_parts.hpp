// The groups of a row in parts whose messages a tree of switches passes alike, so that one group shows the others. On a
// mesh these are all that stay on one switch; the rest are single, until their messages are read (RowSurvey).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/collective/circle.hpp"
#include "sim/collective/group_row.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct RowPart {
    enum class Kind : std::uint8_t {
        single,             // one group and those moved inside its nodes
        on_one_switch,      // each below one switch: of all their NICs of one number
        on_whole_switches,  // as many in a row as nodes are on a switch, from its first on: wherever a group has a node
        on_mesh,            // each by links of its own, and otherwise as the first
    };
    Kind kind = Kind::single;
    std::vector<NodeRun> moves;  // of the row's groups, by whole nodes; ascending

    std::uint32_t first() const { return moves.front().first; }
};

// A row, and its parts once they are asked for.
class PartedRow {
  public:
    // `topology`, whose router is a tree with these circles, and they must outlive this.
    PartedRow(const Topology& topology, const Circles& circles, GroupRow groups);

    const GroupRow& groups() const { return groups_; }
    const Circles& circles() const { return circles_; }
    const std::vector<std::uint32_t>& nodes() const { return nodes_; }  // of the first group; ascending
    // Of a node of the first group, among these. They mostly follow one another.
    std::size_t place_of(std::uint32_t node) const {
        if (nodes_.back() - nodes_.front() + 1 == nodes_.size()) return node - nodes_.front();
        return static_cast<std::size_t>(std::ranges::lower_bound(nodes_, node) - nodes_.begin());
    }
    // The first part is that of the first group. `same_nics`: all messages between nodes enter by a NIC of the number
    // of that by which they leave, so that what stays on one switch passes no other.
    const std::vector<RowPart>& parts(bool same_nics) const;

    // That leads to the last member in the group moved by so many nodes. The group is on several nodes.
    std::uint64_t way(std::uint32_t move) const;

    // Consecutive groups of a part on whole switches for which a NIC of a node is in one subtree, and that are sent to
    // by consecutive ways: so many turns round a circle of ways, and the rest of one. Those that lead to the first of
    // them are `shift` after those to the part's first group. Without a rest there may be so many subtrees in a row.
    struct Sweep {
        std::uint32_t subtree = 0, subtrees = 1, turns = 0;
        std::uint64_t shift = 0, rest = 0;
    };
    // `node` of the part's first group. In the order of the groups; as long-lived as this.
    const std::vector<Sweep>& sweeps(const RowPart& part, std::uint32_t node, std::uint32_t nic,
                                     std::uint32_t tier) const;

  private:
    const std::vector<std::uint64_t>& shifts(const RowPart& part) const;
    void find_sweeps(const RowPart& part, std::uint32_t node, std::vector<std::vector<Sweep>>& sweeps) const;

    const Topology& topology_;
    const Circles& circles_;
    GroupRow groups_;
    std::vector<std::uint32_t> nodes_;
    mutable std::vector<RowPart> parts_[2];                               // by same_nics
    mutable std::map<std::uint32_t, std::vector<std::uint64_t>> shifts_;  // by the part's first move
    using SweepsOfNode = std::vector<std::vector<Sweep>>;                 // by NIC and tier, as Circles::subtrees
    mutable std::map<std::pair<std::uint32_t, std::uint32_t>, SweepsOfNode> sweeps_;  // by the part's first move, node
};

}  // namespace weft
