#include "sim/collective/row_survey.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/collective/messages.hpp"

namespace weft {

// Reads what the messages of a part pass.
class PartReader {
  public:
    PartReader(RowSurvey& survey, RowSurvey::Part& part)
        : survey_(survey), tree_(survey.tree_), part_(part), on_nodes_(survey.nodes().size()) {}

    void read() {
        for (std::uint32_t i = 0; i < part_.messages.size(); ++i) {
            const RowSurvey::Message& message = part_.messages[i];
            pass_nodes(message, message.kind);
            if (survey_.kinds_.may_climb(message.kind)) part_.climbing.push_back(i);
        }
        if (!part_.climbing.empty()) read_switches();
        part_.contents.reserve(on_nodes_.size());
        for (const HashSum& content : on_nodes_) part_.contents.push_back(survey_.content_number(content));
    }

  private:
    // A message of a size passes a circle, through this NIC of a node. Ways are fewer than links.
    struct Pass {
        std::uint32_t key = 0, circle = 0, node = 0, nic = 0, way = 0, size = 0;
    };

    void pass_nodes(const RowSurvey::Message& message, std::uint32_t kind) {
        on_nodes_[message.from] += survey_.kinds_.leaving(kind);
        on_nodes_[message.to] += survey_.kinds_.entering(kind);
    }

    void read_switches() {
        const std::vector<std::uint32_t>& within = survey_.row().within;
        std::vector<Pass> first;
        for (std::uint32_t i = 0; i < within.size(); ++i) {
            passes_.clear();
            for (const std::uint32_t at : part_.climbing) read_climb(part_.messages[at], within[i], i > 0);
            if (tree_.has_mesh()) continue;
            if (i == 0 && part_.is_one()) first = passes_;
            std::optional<TreeMove> rail = i > 0 && part_.is_one() ? rail_from(first) : std::nullopt;
            if (rail) {
                part_.rails.push_back(std::move(*rail));
            } else {
                add_bundles(i);
            }
        }
    }

    // How circles are passed that those of the first group are, moved; nothing where they are not.
    std::optional<TreeMove> rail_from(const std::vector<Pass>& first) const {
        if (first.size() != passes_.size()) return {};
        TreeMove rail;
        for (std::size_t i = 0; i < first.size(); ++i) {
            const Pass &a = first[i], &b = passes_[i];
            const std::uint32_t tier = survey_.circles_.tier(a.circle), by = (b.circle - a.circle) / 2;
            const std::uint64_t ways = std::uint64_t{b.way} - a.way;
            if (i == 0) rail.ways = ways;
            if (rail.subtrees.size() < tier) rail.subtrees.push_back(by);  // tiers are passed from the lowest on
            if (b.size != a.size || rail.ways != ways || rail.subtrees[tier - 1] != by) return {};
        }
        return rail;
    }

    void add_bundles(std::uint32_t group) {
        std::ranges::sort(passes_, [](const Pass& a, const Pass& b) {
            if (a.key != b.key) return a.key < b.key;
            return a.way != b.way ? a.way < b.way : a.size < b.size;
        });
        for (auto at = passes_.begin(); at != passes_.end();) {
            const auto end = std::find_if(at, passes_.end(), [&](const Pass& p) { return p.key != at->key; });
            add_bundle({at, end}, group);
            at = end;
        }
    }

    // Of the group moved inside its nodes by `within`.
    void read_climb(const RowSurvey::Message& message, std::uint32_t within, bool is_moved) {
        MessageKinds& kinds = survey_.kinds_;
        const MessageKind first = kinds[message.kind];
        const RankId from = survey_.rank(part_, message.from, first.from + within),
                     to = survey_.rank(part_, message.to, first.to + within);
        const Climb climb = tree_.climb(from, to);
        std::uint32_t kind = message.kind;
        if (is_moved) {
            kind = kinds.moved(kind, within, from, to, climb);
            part_.moved_kinds.push_back(kind);
            pass_nodes(message, kind);
        }
        const std::uint32_t turn = climb.turn;
        if (turn == 0 || tree_.has_mesh()) return;
        const auto way = static_cast<std::uint32_t>(climb.way) + first.channel;
        for (std::uint32_t tier = 1; tier <= turn; ++tier) {
            pass(tier, survey_.node(part_, message.from), kinds[kind].leave, false, way, kinds[kind].size);
            pass(tier, survey_.node(part_, message.to), kinds[kind].enter, true, way, kinds[kind].size);
        }
    }

    void pass(std::uint32_t tier, std::uint32_t node, std::uint32_t nic, bool down, std::uint32_t way,
              std::uint32_t size) {
        const Circles& circles = survey_.circles_;
        const std::uint32_t circle = circles.of(tier, circles.subtree(node, nic, tier), down);
        std::uint32_t key = circle;
        if (!part_.is_one()) {  // each NIC by itself: those that share a subtree need not do so in all groups
            key = tier * circles.size() + circles.of(1, circles.subtree(node, nic, 1), down);
        }
        passes_.push_back({key, circle, node, nic, way, size});
    }

    // Of passes with one key, in their order.
    void add_bundle(std::span<const Pass> passes, std::uint32_t group) {
        const Pass& pass = passes.front();
        const auto first = static_cast<std::uint32_t>(part_.passages.size());
        for (const Pass& each : passes) {
            RowSurvey::Passage* const last = part_.passages.size() > first ? &part_.passages.back() : nullptr;
            if (last != nullptr && last->way == each.way && last->size == each.size) {
                ++last->messages;
            } else {
                part_.passages.push_back({.way = each.way, .size = each.size});
            }
        }
        RowSurvey::Bundle bundle{.first = first, .group = group, .circle = pass.circle};
        bundle.end = static_cast<std::uint32_t>(part_.passages.size());
        const std::uint64_t ways = survey_.circles_.ways(pass.circle), start = part_.passages[first].way % ways;
        for (std::uint32_t i = first; i < bundle.end; ++i) {
            const RowSurvey::Passage& each = part_.passages[i];
            bundle.passing += HashSum::of(
                {survey_.kinds_.hash_of_size(each.size) + each.messages, (each.way % ways + ways - start) % ways});
        }
        if (!part_.is_one()) {
            const std::uint32_t tier = survey_.circles_.tier(pass.circle);
            bundle.sweeps = &survey_.row_.sweeps(part_.groups, pass.node, pass.nic, tier);
        }
        part_.bundles.push_back(bundle);
    }

    RowSurvey& survey_;
    const RouteTree& tree_;
    RowSurvey::Part& part_;
    std::vector<HashSum> on_nodes_;  // what the messages are to them
    std::vector<Pass> passes_;       // of the group at hand
};

RowSurvey::RowSurvey(const Topology& topology, const PartedRow& row, const Communicator& communicator,
                     const Phase& phase)
    : topology_(topology),
      tree_(*topology.fabric()),
      circles_(row.circles()),
      row_(row),
      communicator_(communicator),
      phase_(phase),
      kinds_(topology) {
    std::vector<Message> first = read_messages(0);
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

void RowSurvey::add(const RowPart& groups, std::vector<Message> messages) {
    Part part{.groups = groups, .messages = std::move(messages)};
    if (tree_.has_mesh() && part.is_one()) part.groups.kind = RowPart::Kind::on_mesh;
    PartReader(*this, part).read();
    parts_.push_back(std::move(part));
}

// Whether the messages of the group moved by so many nodes are of the kinds that those of a part are.
bool RowSurvey::sends_as(const Part& part, std::uint32_t move) const {
    const std::uint32_t by = (move - part.groups.first()) * topology_.ranks_per_node;
    const auto is_alike = [&](RankId from, RankId to, std::uint32_t kind) {
        const Climb climb = tree_.climb(from, to);
        const MessageSize& size = kinds_.size_of(kind);
        const std::uint32_t detours = topology_.routing == Routing::minimal ? 0 : topology_.router->detours(from, to);
        return climb.turn == size.turn && climb.leave == kinds_[kind].leave && climb.enter == kinds_[kind].enter &&
               detours == size.detours;
    };
    std::size_t at = 0;
    for (std::uint32_t m = 0; m < part.messages.size(); ++m) {
        const Message& message = part.messages[m];
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

// Of the first group, moved by so many nodes.
std::vector<RowSurvey::Message> RowSurvey::read_messages(std::uint32_t move) {
    std::vector<Message> messages;
    const double share = 1.0 / static_cast<double>(communicator_.channels.size());
    messages.reserve(communicator_.channels.size() * std::max<std::size_t>(communicator_.size(), phase_.edges.size()));
    struct Member {
        Seat seat;
        std::uint32_t place = 0;  // of its node
    };
    std::vector<Member> members;
    members.reserve(communicator_.size());
    for (std::uint32_t channel = 0; channel < communicator_.channels.size(); ++channel) {
        members.clear();
        for (const RankId rank : communicator_.channels[channel]) {
            const std::size_t place = row_.place_of(topology_.node_of(rank));
            members.push_back(
                {kinds_.seat(moved(rank, move * topology_.ranks_per_node)), static_cast<std::uint32_t>(place)});
        }
        for_each_message(phase_, communicator_.size(), [&](std::uint32_t i, std::uint32_t j, double weight) {
            const Member &from = members[i], &to = members[j];
            messages.push_back({from.place, to.place, kinds_.of(channel, from.seat, to.seat, share * weight)});
        });
    }
    return messages;
}

}  // namespace weft
