#include "sim/collective/row_survey.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/collective/messages.hpp"
#include "sim/collective/part_reader.hpp"

namespace weft {

RowSurvey::RowSurvey(const Topology& topology, const PartedRow& row, const Communicator& communicator,
                     const Phase& phase)
    : topology_(topology),
      tree_(*topology.fabric()),
      circles_(row.circles()),
      row_(row),
      communicator_(communicator),
      phase_(phase),
      kinds_(topology) {
    std::vector<Messages> first = read_messages(0);
    bool same_nics = true;
    for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) same_nics &= kinds_[kind].leave == kinds_[kind].enter;
    for (const RowPart& groups : row.parts(same_nics)) {
        const auto is_like = [&](const Part& part) { return part.is_on_mesh() && sends_as(part, groups.first()); };
        const auto known = tree_.has_mesh() ? std::ranges::find_if(parts_, is_like) : parts_.end();
        if (known == parts_.end()) {
            add(groups, groups.first() == 0 ? std::move(first) : read_messages(groups.first()));
        } else {
            join(known->groups, groups.moves.front());
        }
    }
    if (tree_.has_mesh()) mesh_ = mesh_passes(topology, *this);
}

void RowSurvey::add(const RowPart& groups, std::vector<Messages> messages) {
    Part part{.groups = groups, .messages = std::move(messages)};
    if (tree_.has_mesh() && part.is_one()) part.groups.kind = RowPart::Kind::on_mesh;
    read_passes(*this, part);
    parts_.push_back(std::move(part));
}

// Whether the messages of the group moved by so many nodes are of the kinds that those of a part are.
bool RowSurvey::sends_as(const Part& part, std::uint32_t move) const {
    const std::uint32_t by = (move - part.groups.first()) * topology_.ranks_per_node;
    const auto is_alike = [&](RankId from, RankId to, std::uint32_t kind) {
        const Climb climb = tree_.climb(from, to);
        const MessageSize& size = kinds_.size_of(kind);
        return climb.turn == size.turn && climb.leave == kinds_[kind].leave && climb.enter == kinds_[kind].enter &&
               kinds_.detours(from, to) == size.detours;
    };
    std::size_t at = 0;
    for (std::uint32_t m = 0; m < part.messages.size(); ++m) {
        const Message& message = part.messages[m].first;  // which on a mesh is one
        const bool climbs = at < part.climbing.size() && part.climbing[at] == m;
        const MessageKind& kind = kinds_[message.kind];
        const RankId from = moved(rank(part, message.from, kind.from), by),
                     to = moved(rank(part, message.to, kind.to), by);
        if (kinds_.size_of(message.kind).across && !is_alike(from, to, message.kind)) return false;
        for (std::size_t i = 1; climbs && i < row().within.size(); ++i) {
            const std::uint32_t within = row().within[i];
            if (!is_alike(moved(from, within), moved(to, within), moved_kind(part, at, i))) return false;
        }
        if (climbs) ++at;
    }
    return true;
}

void RowSurvey::join(RowPart& part, NodeRun moves) {
    NodeRun& last = part.moves.back();
    if (last.first + last.count == moves.first) {
        last.count += moves.count;
    } else {
        part.moves.push_back(moves);
    }
}

std::uint32_t RowSurvey::content_number(const HashSum& content) {
    const auto [known, is_new] = content_numbers_.try_emplace(content, static_cast<std::uint32_t>(contents_.size()));
    if (is_new) contents_.push_back(content);
    return known->second;
}

// After how many members of a channel the next ones sit in their nodes as those before, and these on their switches:
// so throughout. 0 where that is not so.
std::uint32_t RowSurvey::period_of(std::span<const RankId> channel) const {
    const auto node = [&](std::size_t i) { return topology_.node_of(channel[i]); };
    const auto leaves = std::ranges::find_if(channel, [&](RankId r) { return topology_.node_of(r) != node(0); });
    const auto on_node = static_cast<std::uint32_t>(leaves - channel.begin());
    const std::uint32_t switch_nodes = tree_.nodes_per_switch();
    for (const std::uint32_t block : {on_node, 2 * on_node}) {  // every second node may be passed backwards
        if (block >= channel.size() || channel.size() % block != 0) continue;
        const auto by = static_cast<std::uint32_t>(index(channel[block]) - index(channel[0]));
        const std::uint32_t nodes = by / topology_.ranks_per_node;
        const auto is_after = [&](RankId rank, RankId before) { return index(rank) - index(before) == by; };
        const bool repeats =
            by % topology_.ranks_per_node == 0 && by > 0 && node(block - 1) - node(0) < nodes &&
            std::ranges::equal(channel.subspan(block), channel.first(channel.size() - block), is_after);
        if (repeats) return block * (switch_nodes / std::gcd(switch_nodes, nodes));
    }
    return 0;
}

// Of the first group, moved by so many nodes.
std::vector<RowSurvey::Messages> RowSurvey::read_messages(std::uint32_t move) {
    std::vector<Messages> messages;
    const double share = 1.0 / static_cast<double>(communicator_.channels.size());
    std::uint32_t number = 0;
    for (std::uint32_t channel = 0; channel < communicator_.channels.size(); ++channel) {
        const std::vector<RankId>& ranks = communicator_.channels[channel];
        const std::uint32_t repeats = tree_.has_mesh() ? 0 : period_of(ranks);
        const auto place = [&](std::uint32_t i) {
            return static_cast<std::uint32_t>(row_.place_of(topology_.node_of(ranks[i])));
        };
        for_each_edges(phase_, communicator_.size(), [&](const Edges& edges) {
            const std::uint32_t period =
                repeats == 0 || edges.step == 0 ? edges.count : repeats / std::gcd(repeats, edges.step);
            const auto seat = [&](std::uint32_t i) {
                return kinds_.seat(moved(ranks[i], move * topology_.ranks_per_node));
            };
            for (std::uint32_t i = 0; i < std::min(period, edges.count); ++i) {
                for (std::uint32_t k = i; k < edges.count; k += period) {
                    const std::uint32_t from = edges.from + k * edges.step, to = edges.to + k * edges.step;
                    const Seat sender = seat(from), receiver = seat(to);
                    const std::uint32_t kind = kinds_.of(channel, sender, receiver, share * edges.weight);
                    messages.push_back({.first = {place(from), place(to), kind}, .number = number + k});
                    if (sender.leaf != receiver.leaf || kinds_.may_climb(kind) || edges.count - k <= period) continue;
                    Messages& all = messages.back();  // those after this do as it does
                    all.count = (edges.count - k - 1) / period + 1;
                    all.step = place(from + period * edges.step) - all.first.from;
                    all.every = period;
                    break;
                }
            }
            number += edges.count;
        });
    }
    per_channel_ = number / static_cast<std::uint32_t>(communicator_.channels.size());
    return messages;
}

}  // namespace weft
