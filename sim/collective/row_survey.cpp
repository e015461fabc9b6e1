#include "sim/collective/row_survey.hpp"

#include <algorithm>
#include <utility>

#include "sim/collective/messages.hpp"

namespace weft {

// Reads what the messages of a part pass.
class PartReader {
  public:
    PartReader(RowSurvey& survey, RowSurvey::Part& part, std::vector<HashSum>& on_nodes)
        : survey_(survey), tree_(*survey.topology_.router->tree()), part_(part), on_nodes_(on_nodes) {}

    // `nodes` of the first group of the row, ascending.
    void read(const std::vector<std::uint32_t>& nodes) {
        first_node_ = nodes.front() + part_.groups.first();
        for (std::uint32_t i = 0; i < part_.messages.size(); ++i) {
            const RowSurvey::Message& message = part_.messages[i];
            pass_nodes(message, message.kind);
            if (survey_.kinds_.may_climb(message.kind)) part_.climbing.push_back(i);
        }
        if (!part_.climbing.empty()) read_switches();
        part_.nodes.reserve(nodes.size());
        for (const std::uint32_t node : nodes) {
            part_.nodes.push_back({node + part_.groups.first(), std::exchange(on_nodes_[node - nodes.front()], {})});
        }
    }

  private:
    // A message passes a circle, through this NIC of a node.
    struct Pass {
        std::uint32_t key = 0, circle = 0, tier = 0, node = 0, nic = 0;
        bool down = false;
        RowSurvey::Passage passage{};
    };

    // Of a pass in their order: by key, way and size. Ways are fewer than links.
    struct Place {
        std::uint64_t key_and_way = 0, size_and_pass = 0;
        auto operator<=>(const Place&) const = default;
        std::uint64_t key() const { return key_and_way >> 32U; }
        std::size_t pass() const { return static_cast<std::uint32_t>(size_and_pass); }
    };

    void pass_nodes(const RowSurvey::Message& message, std::uint32_t kind) {
        on_nodes_[message.from - first_node_] += survey_.kinds_.leaving(kind);
        on_nodes_[message.to - first_node_] += survey_.kinds_.entering(kind);
    }

    void read_switches() {
        const std::vector<std::uint32_t>& within = survey_.row().within;
        for (std::size_t i = 0; i < within.size(); ++i) {
            for (const std::uint32_t at : part_.climbing) read_climb(part_.messages[at], within[i], i > 0);
            order_.clear();
            for (std::size_t p = 0; p < passes_.size(); ++p) {
                const Pass& pass = passes_[p];
                order_.push_back(
                    {std::uint64_t{pass.key} << 32U | pass.passage.way, std::uint64_t{pass.passage.size} << 32U | p});
            }
            std::ranges::sort(order_);
            for (auto at = order_.begin(); at != order_.end();) {
                const auto end = std::find_if(at, order_.end(), [&](const Place& p) { return p.key() != at->key(); });
                add_bundle({at, end}, static_cast<std::uint32_t>(i));
                at = end;
            }
            passes_.clear();
        }
    }

    // Of the group moved inside its nodes by `within`.
    void read_climb(const RowSurvey::Message& message, std::uint32_t within, bool is_moved) {
        MessageKinds& kinds = survey_.kinds_;
        const MessageKind first = kinds[message.kind];
        const RankId from = kinds.rank(message.from, first.from + within),
                     to = kinds.rank(message.to, first.to + within);
        const Climb climb = tree_.climb(from, to);
        std::uint32_t kind = message.kind;
        if (is_moved) {
            kind = kinds.moved(kind, within, from, to, climb);
            part_.moved_kinds.push_back(kind);
            pass_nodes(message, kind);
        }
        const std::uint32_t turn = climb.turn;
        if (turn == 0) return;
        const RowSurvey::Passage passage{.way = climb.way + first.channel, .size = kinds[kind].size};
        for (std::uint32_t tier = 1; tier <= turn; ++tier) {
            pass(tier, message.from, kinds[kind].leave, false, passage);
            pass(tier, message.to, kinds[kind].enter, true, passage);
        }
    }

    void pass(std::uint32_t tier, std::uint32_t node, std::uint32_t nic, bool down, RowSurvey::Passage passage) {
        const Circles& circles = survey_.circles_;
        const std::uint32_t circle = circles.of(tier, tree_.subtree(node, nic, tier), down);
        std::uint32_t key = circle;
        if (!part_.is_one()) {  // each NIC by itself: those that share a subtree need not do so in all groups
            key = tier * circles.size() + circles.of(1, tree_.subtree(node, nic, 1), down);
        }
        passes_.push_back({key, circle, tier, node, nic, down, passage});
    }

    // Of passes with one key.
    void add_bundle(std::span<const Place> places, std::uint32_t group) {
        const Pass& pass = passes_[places.front().pass()];
        const auto first = static_cast<std::uint32_t>(part_.passages.size());
        RowSurvey::Bundle bundle{.first = first, .group = group, .circle = pass.circle};
        for (const Place& place : places) {
            const RowSurvey::Passage& passage = passes_[place.pass()].passage;
            RowSurvey::Passage* const last = part_.passages.size() > first ? &part_.passages.back() : nullptr;
            if (last != nullptr && last->way == passage.way && last->size == passage.size) {
                ++last->messages;
            } else {
                part_.passages.push_back(passage);
            }
        }
        bundle.end = static_cast<std::uint32_t>(part_.passages.size());
        const std::uint64_t ways = tree_.ways(pass.tier), start = pass.passage.way % ways;
        for (std::uint32_t i = first; i < bundle.end; ++i) {
            const RowSurvey::Passage& each = part_.passages[i];
            bundle.passing += HashSum::of(
                {survey_.kinds_.hash_of_size(each.size) + each.messages, (each.way % ways + ways - start) % ways});
        }
        const auto number = static_cast<std::uint32_t>(part_.bundles.size());
        part_.bundles.push_back(bundle);
        if (part_.is_one()) {
            const bool is_only_way = tree_.ways(pass.tier) == 1;
            part_.stretches.push_back({.circle = pass.circle,
                                       .bundle = number,
                                       .turns = is_only_way ? 1U : 0U,
                                       .rest = is_only_way ? 0U : 1U});
        } else {
            add_stretches(pass, number);
        }
    }

    void add_stretches(const Pass& pass, std::uint32_t bundle) {
        const std::uint64_t ways = tree_.ways(pass.tier);
        for (const PartedRow::Sweep& sweep : survey_.row_.sweeps(part_.groups, pass.node, pass.nic, pass.tier)) {
            part_.stretches.push_back({.circle = survey_.circles_.of(pass.tier, sweep.subtree, pass.down),
                                       .bundle = bundle,
                                       .shift = sweep.shift,
                                       .turns = static_cast<std::uint32_t>(sweep.length / ways),
                                       .rest = static_cast<std::uint32_t>(sweep.length % ways)});
        }
    }

    RowSurvey& survey_;
    const RouteTree& tree_;
    RowSurvey::Part& part_;
    std::vector<HashSum>& on_nodes_;  // by node, from the group's first; all zero between parts
    std::uint32_t first_node_ = 0;
    std::vector<Pass> passes_;  // of the group at hand
    std::vector<Place> order_;  // of these
};

RowSurvey::RowSurvey(const Topology& topology, const Circles& circles, const PartedRow& row,
                     const Communicator& communicator, const Phase& phase)
    : topology_(topology), circles_(circles), row_(row), communicator_(communicator), phase_(phase), kinds_(topology) {
    std::vector<Message> first = read_messages(0);
    bool same_nics = true;
    for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) same_nics &= kinds_[kind].leave == kinds_[kind].enter;
    const std::vector<std::uint32_t>& nodes = row.nodes();
    std::vector<HashSum> on_nodes(nodes.back() - nodes.front() + 1);
    for (const RowPart& groups : row.parts(same_nics)) {
        const std::size_t before = parts_.size() * row.groups().within.size();
        Part& part = parts_.emplace_back(Part{.groups = groups, .first_group = static_cast<std::uint32_t>(before)});
        part.messages = part.groups.first() == 0 ? std::move(first) : read_messages(part.groups.first());
        PartReader(*this, part, on_nodes).read(nodes);
    }
}

// Of the first group, moved by so many nodes.
std::vector<RowSurvey::Message> RowSurvey::read_messages(std::uint32_t move) {
    std::vector<Message> messages;
    const double share = 1.0 / static_cast<double>(communicator_.channels.size());
    messages.reserve(communicator_.channels.size() * std::max<std::size_t>(communicator_.size(), phase_.edges.size()));
    std::vector<Seat> seats;
    for (std::uint32_t channel = 0; channel < communicator_.channels.size(); ++channel) {
        seats.clear();
        for (const RankId rank : communicator_.channels[channel]) {
            seats.push_back(kinds_.seat(moved(rank, move * topology_.ranks_per_node)));
        }
        for_each_message(phase_, communicator_.size(), [&](std::uint32_t i, std::uint32_t j, double weight) {
            const std::uint32_t kind = kinds_.of(channel, seats[i], seats[j], share * weight);
            messages.push_back({seats[i].node, seats[j].node, kind});
        });
    }
    return messages;
}

}  // namespace weft
