#include "sim/collective/part_reader.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/group_by_key.hpp"

namespace weft {

class PartReader {
  public:
    PartReader(RowSurvey& survey, RowSurvey::Part& part)
        : survey_(survey), tree_(survey.tree_), part_(part), on_nodes_(survey.nodes().size()) {}

    void read() {
        HashSum* const on_nodes = on_nodes_.data();
        const MessageKinds& kinds = survey_.kinds_;
        for (std::uint32_t at = 0; at < part_.messages.size(); ++at) {
            const RowSurvey::Messages& messages = part_.messages[at];
            const HashSum leaving = kinds.leaving(messages.first.kind), entering = kinds.entering(messages.first.kind);
            HashSum *from = on_nodes + messages.first.from, *to = on_nodes + messages.first.to;
            *from += leaving;
            *to += entering;
            for (std::uint32_t i = 1; i < messages.count; ++i) {
                *(from += messages.step) += leaving;
                *(to += messages.step) += entering;
            }
            if (kinds.may_climb(messages.first.kind)) part_.climbing.push_back(at);
        }
        if (!part_.climbing.empty()) read_switches();
        read_contents();
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

    // Mostly one of few.
    void read_contents() {
        struct Known {
            HashSum content{};
            std::uint32_t number = 0;
        };
        std::array<Known, 64> known{};
        part_.contents.reserve(on_nodes_.size());
        for (const HashSum& content : on_nodes_) {
            Known& like = known[content.a % known.size()];
            if (like.content != content) like = {content, survey_.content_number(content)};
            part_.contents.push_back(like.number);
        }
    }

    void read_switches() {
        const std::vector<std::uint32_t>& within = survey_.row().within;
        if (part_.is_one() && within.size() > 1) find_kinds();
        for (std::uint32_t i = 0; i < within.size(); ++i) {
            if (std::optional<TreeMove> rail = i > 0 ? rail_to(within[i]) : std::nullopt) {
                part_.rails.push_back(std::move(*rail));
                for (const std::uint32_t at : part_.climbing) {
                    part_.moved_kinds.push_back(moved_[part_.messages[at].first.kind]);
                }
                continue;
            }
            passes_.clear();
            passes_.reserve(2 * part_.climbing.size() * (tree_.tiers() - 1));
            for (const std::uint32_t at : part_.climbing) read_climb(part_.messages[at].first, within[i], i > 0);
            if (!tree_.has_mesh()) add_bundles(i);
        }
        part_.rails_in_step = are_in_step(part_.rails);
    }

    static bool are_in_step(const std::vector<TreeMove>& rails) {
        TreeMove next;
        return !rails.empty() && std::ranges::all_of(rails, [&](const TreeMove& rail) {
            next.subtrees.resize(rail.subtrees.size());
            for (std::size_t i = 0; i < next.subtrees.size(); ++i) next.subtrees[i] += rails.front().subtrees[i];
            return rail == next;
        });
    }

    // One message of each kind that may climb.
    void find_kinds() {
        moved_.resize(survey_.kinds_.size());
        std::vector<bool> is_found(moved_.size());
        for (const std::uint32_t at : part_.climbing) {
            const RowSurvey::Message& message = part_.messages[at].first;
            if (!is_found[message.kind]) of_kinds_.push_back(message);
            is_found[message.kind] = true;
        }
    }

    // How circles are passed in the group moved inside its nodes, if all messages move alike: then one of each kind
    // shows the others, for a way is told by node and NIC, each for itself, and the subtrees of NICs by their switch.
    // Kinds then tell what nodes are to them moved, too. Nothing where they do not, or on a mesh.
    std::optional<TreeMove> rail_to(std::uint32_t within) {
        if (of_kinds_.empty() || tree_.has_mesh()) return {};
        MessageKinds& kinds = survey_.kinds_;
        TreeMove rail;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> nics;  // moved, from one to another
        const auto add = [&](std::uint32_t before, std::uint32_t after) {
            if (std::ranges::find(nics, std::pair(before, after)) == nics.end()) nics.emplace_back(before, after);
        };
        std::uint32_t tiers = 0;  // that decide how far they climb
        for (const RowSurvey::Message& message : of_kinds_) {
            const MessageKind first = kinds[message.kind];
            const RankId from = survey_.rank(part_, message.from, first.from),
                         to = survey_.rank(part_, message.to, first.to);
            const Climb climb = tree_.climb(moved(from, within), moved(to, within));
            const std::uint64_t ways = tree_.way(moved(to, within)) - tree_.way(to);
            if (&message == &of_kinds_.front()) rail.ways = ways;
            const std::uint32_t kind = kinds.moved(message.kind, within, moved(from, within), moved(to, within), climb);
            if (rail.ways != ways || kinds[kind].size != first.size) return {};
            moved_[message.kind] = kind;
            add(first.leave, climb.leave);
            add(first.enter, climb.enter);
            tiers = std::max(tiers, std::min(climb.turn + 1, tree_.tiers() - 1));
        }
        rail.subtrees.resize(tiers);
        return find_subtrees(rail, nics) ? std::optional(std::move(rail)) : std::nullopt;
    }

    // By how much those of the NICs are apart; whether that is the same on every switch of the group.
    bool find_subtrees(TreeMove& rail, std::span<const std::pair<std::uint32_t, std::uint32_t>> nics) const {
        const std::uint32_t on_switch = tree_.nodes_per_switch(), first = part_.groups.first();
        const std::size_t tiers = tree_.tiers() - 1;
        const std::vector<std::uint32_t>& nodes = survey_.nodes();
        bool is_first = true, is_even = true;
        for (auto node = nodes.begin(); node != nodes.end() && is_even;) {
            const std::span<const std::uint32_t> subtrees = survey_.circles_.subtrees(*node + first);
            for (const auto& [before, after] : nics) {
                for (std::size_t tier = 0; tier < rail.subtrees.size(); ++tier) {
                    const std::uint32_t by = subtrees[after * tiers + tier] - subtrees[before * tiers + tier];
                    if (is_first) rail.subtrees[tier] = by;
                    is_even &= rail.subtrees[tier] == by;
                }
                is_first = false;
            }
            const std::uint32_t end = ((*node + first) / on_switch + 1) * on_switch - first;
            node = std::lower_bound(node, nodes.end(), end);
        }
        return is_even;
    }

    void add_bundles(std::uint32_t group) {
        const std::size_t keys = std::size_t{survey_.circles_.size()} * (part_.is_one() ? 1 : tree_.tiers());
        group_by_key(passes_, keys, std::mem_fn(&Pass::key));
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
        std::uint32_t kind = message.kind;
        if (is_moved) {
            kind = kinds.moved(kind, within, from, to, tree_.climb(from, to));
            part_.moved_kinds.push_back(kind);
            pass_nodes(message, kind);
        }
        const std::uint32_t turn = kinds.size_of(kind).turn;
        if (turn == 0 || tree_.has_mesh()) return;
        const auto way = static_cast<std::uint32_t>(tree_.way(to)) + first.channel;
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

    // Of passes with one key. Where they are many, those alike are brought together.
    void add_bundle(std::span<Pass> passes, std::uint32_t group) {
        constexpr std::size_t many = 64;
        const auto by_way = [](const Pass& pass) { return std::pair(pass.way, pass.size); };
        if (passes.size() > many) std::ranges::sort(passes, {}, by_way);
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
        const std::uint64_t ways = survey_.circles_.ways(pass.circle);
        bundle.way = std::ranges::min(passes, {}, &Pass::way).way % ways;
        for (std::uint32_t i = first; i < bundle.end; ++i) {
            const RowSurvey::Passage& each = part_.passages[i];
            const std::uint64_t way = (each.way % ways + ways - bundle.way) % ways;
            bundle.passing += HashSum::of({survey_.kinds_.hash_of_size(each.size), way}) * each.messages;
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
    std::vector<RowSurvey::Message> of_kinds_;
    std::vector<std::uint32_t> moved_;  // by kind, in the group at hand
};

void read_passes(RowSurvey& survey, RowSurvey::Part& part) { PartReader(survey, part).read(); }

}  // namespace weft
