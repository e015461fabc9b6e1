#include "sim/collective/row_parts.hpp"

#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace weft {
namespace {

class Parting {
  public:
    Parting(const Topology& topology, const PartedRow& row, bool same_nics)
        : topology_(topology),
          tree_(*topology.fabric()),
          circles_(row.circles()),
          row_(row.groups()),
          nodes_(row.nodes()),
          on_switch_(tree_.nodes_per_switch()) {
        is_one_switch_ = tree_.tiers() == 1 && !tree_.has_mesh();
        stays_ = same_nics && (nodes_.size() <= most_looked_at || is_one_switch_);
        sweeps_ =
            nodes_.size() <= most_looked_at && tree_.tiers() > 1 && are_aligned() && parts_ways() && loads_all_ways();
    }

    std::vector<RowPart> parts() {
        for (NodeRun left : row_.moves) {
            while (left.count > 0) {
                const std::uint32_t taken = add_first_of(left);
                left.first += taken;
                left.count -= taken;
            }
        }
        for (RowPart& part : parts_) {  // that show no others
            if (part.moves.size() == 1 && part.moves.front().count == 1) part.kind = RowPart::Kind::single;
        }
        return std::move(parts_);
    }

  private:
    static constexpr std::size_t most_looked_at = 64;  // a group on more nodes is on several switches, or one of few

    // As many as are of one kind.
    std::uint32_t add_first_of(NodeRun run) {
        if (const std::uint32_t count = std::min(run.count, on_one_switch(run.first)); count > 0) {
            add(one_switch_, RowPart::Kind::on_one_switch, {run.first, count});
            return count;
        }
        if (sweeps_ && run.count >= on_switch_ && (nodes_.front() + run.first) % on_switch_ == 0) {
            add(whole_switches_[arrangement(run.first)], RowPart::Kind::on_whole_switches, {run.first, on_switch_});
            return on_switch_;
        }
        parts_.push_back({.moves = {{run.first, 1}}});
        return 1;
    }

    void add(std::optional<std::size_t>& part, RowPart::Kind kind, NodeRun moves) {
        if (!part) {
            part = parts_.size();
            parts_.push_back({.kind = kind, .moves = {moves}});
            return;
        }
        NodeRun& last = parts_[*part].moves.back();
        if (last.first + last.count == moves.first) {
            last.count += moves.count;
        } else {
            parts_[*part].moves.push_back(moves);
        }
    }

    // How many moves in a row leave all nodes with their first NICs plugged into one switch: then NICs of one number
    // are, whatever the number.
    std::uint32_t on_one_switch(std::uint32_t move) const {
        if (!stays_) return 0;
        if (nodes_.size() == 1 || is_one_switch_) return std::numeric_limits<std::uint32_t>::max();
        const std::uint32_t first = nodes_.front() + move, last = nodes_.back() + move;
        return first / on_switch_ == last / on_switch_ ? on_switch_ - last % on_switch_ : 0;
    }

    // On their switches.
    bool are_aligned() const {
        return std::ranges::all_of(nodes_, [&](std::uint32_t n) { return (n - nodes_.front()) % on_switch_ == 0; });
    }

    // Otherwise messages on several ways meet on one link in some groups, and in others not.
    bool parts_ways() const {
        bool parts = true;
        for (std::uint32_t tier = 1; tier < tree_.tiers(); ++tier) parts &= tree_.parts_ways(tier);
        return parts;
    }

    // Messages to the nodes of a switch, one to each, take every way up the lowest tier equally often.
    bool loads_all_ways() const {
        if (nodes_.size() < 2 || on_switch_ % tree_.ways(1) != 0) return false;
        if (on_switch_ == 1) return true;
        const RankId to = row_.members.back();
        const std::uint32_t n = topology_.ranks_per_node, node = topology_.node_of(to);
        const bool is_last = (node + 1) % on_switch_ == 0;
        if (!is_last && (node + 1) * n >= topology_.ranks) return false;
        const RankId neighbour = is_last ? RankId(static_cast<std::uint32_t>(to) - n) : moved(to, n);
        const std::uint64_t a = tree_.way(to), b = tree_.way(neighbour);
        return is_last ? b + 1 == a : a + 1 == b;
    }

    // Which NICs of the group share subtrees above the lowest. Mostly the same as after the move before.
    const std::vector<std::uint32_t>& arrangement(std::uint32_t move) {
        const std::size_t nics = tree_.nics(), each = nodes_.size() * nics;
        const bool is_first = subtrees_.empty();
        bool is_known = !is_first;
        const std::size_t tiers = tree_.tiers() - 1;
        subtrees_.resize(each * (tiers - 1));
        std::size_t at = 0;
        for (std::size_t tier = 1; tier < tiers; ++tier) {
            std::uint32_t by = 0;  // all subtrees have moved by so many since then
            for (std::size_t i = 0; i < nodes_.size(); ++i) {
                const std::span<const std::uint32_t> all = circles_.subtrees(nodes_[i] + move);
                for (std::size_t nic = 0; nic < nics; ++nic, ++at) {
                    const std::uint32_t subtree = all[nic * tiers + tier];
                    if (i + nic == 0) by = subtree - subtrees_[at];
                    is_known &= subtree - subtrees_[at] == by;
                    subtrees_[at] = subtree;
                }
            }
        }
        if (!is_known) find_firsts(each);
        return firsts_;
    }

    // Of each subtree, the first that is equal in its tier.
    void find_firsts(std::size_t each) {
        firsts_.clear();
        std::map<std::uint32_t, std::uint32_t> known;
        for (std::size_t i = 0; i < subtrees_.size(); ++i) {
            if (i % each == 0) known.clear();
            firsts_.push_back(known.try_emplace(subtrees_[i], static_cast<std::uint32_t>(i)).first->second);
        }
    }

    const Topology& topology_;
    const RouteTree& tree_;
    const Circles& circles_;
    const GroupRow& row_;
    const std::vector<std::uint32_t>& nodes_;
    std::uint32_t on_switch_;
    bool is_one_switch_ = false, stays_ = false, sweeps_ = false;
    std::vector<RowPart> parts_;
    std::optional<std::size_t> one_switch_;
    std::vector<std::uint32_t> subtrees_, firsts_;  // tier by tier, node by node, of every NIC
    std::map<std::vector<std::uint32_t>, std::optional<std::size_t>> whole_switches_;  // by arrangement
};

}  // namespace

PartedRow::PartedRow(const Topology& topology, const Circles& circles, GroupRow groups)
    : topology_(topology), circles_(circles), groups_(std::move(groups)) {
    for (const RankId rank : groups_.members) {
        const std::uint32_t node = topology.node_of(rank);
        if (nodes_.empty() || nodes_.back() != node) nodes_.push_back(node);  // members are mostly ascending
    }
    if (!std::ranges::is_sorted(nodes_)) std::ranges::sort(nodes_);
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
}

std::uint64_t PartedRow::way(std::uint32_t move) const {
    const std::uint32_t by = move * topology_.ranks_per_node;
    return topology_.fabric()->way(moved(groups_.members.back(), by));
}

// Of the first group on each switch from the part's first group.
const std::vector<std::uint64_t>& PartedRow::shifts(const RowPart& part) const {
    const auto [known, is_new] = shifts_.try_emplace(part.first());
    if (!is_new) return known->second;
    const std::uint32_t length = topology_.fabric()->nodes_per_switch();
    const std::uint64_t first = way(part.first());
    for (const NodeRun run : part.moves) {
        for (std::uint32_t i = 0; i < run.count; i += length) known->second.push_back(way(run.first + i) - first);
    }
    return known->second;
}

const std::vector<PartedRow::Sweep>& PartedRow::sweeps(const RowPart& part, std::uint32_t node, std::uint32_t nic,
                                                       std::uint32_t tier) const {
    const auto [known, is_new] = sweeps_.try_emplace({part.first(), node});
    if (is_new) find_sweeps(part, node, known->second);
    return known->second[nic * (topology_.fabric()->tiers() - 1) + tier - 1];
}

// Of all its NICs in all tiers.
void PartedRow::find_sweeps(const RowPart& part, std::uint32_t node, SweepsOfNode& sweeps) const {
    const RouteTree& tree = *topology_.fabric();
    const std::uint32_t length = tree.nodes_per_switch(), first = node - part.first();
    std::vector<Sweep> last(tree.nics() * (tree.tiers() - 1), Sweep{.rest = 0});
    sweeps.resize(last.size());
    const auto add = [&](std::size_t i) {
        const std::uint64_t ways = tree.ways(static_cast<std::uint32_t>(i % (tree.tiers() - 1)) + 1);
        last[i].turns = static_cast<std::uint32_t>(last[i].rest / ways);
        last[i].rest %= ways;
        Sweep* const before = sweeps[i].empty() ? nullptr : &sweeps[i].back();
        if (before != nullptr && before->rest == 0 && last[i].rest == 0 && before->turns == last[i].turns &&
            before->subtree + before->subtrees == last[i].subtree) {
            ++before->subtrees;
        } else {
            sweeps[i].push_back(last[i]);
        }
    };
    auto shift = shifts(part).begin();
    for (const NodeRun run : part.moves) {
        for (std::uint32_t at = 0; at < run.count; at += length, ++shift) {
            const std::span<const std::uint32_t> subtrees = circles_.subtrees(first + run.first + at);
            for (std::size_t i = 0; i < last.size(); ++i) {
                if (last[i].subtree != subtrees[i] || last[i].shift + last[i].rest != *shift) {
                    if (last[i].rest > 0) add(i);
                    last[i] = {.subtree = subtrees[i], .shift = *shift};
                }
                last[i].rest += length;
            }
        }
    }
    for (std::size_t i = 0; i < last.size(); ++i) add(i);
}

const std::vector<RowPart>& PartedRow::parts(bool same_nics) const {
    std::vector<RowPart>& parts = parts_[same_nics ? 1 : 0];
    if (parts.empty()) parts = Parting(topology_, *this, same_nics).parts();
    return parts;
}

}  // namespace weft
