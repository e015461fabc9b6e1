#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "sim/collective/row_passes.hpp"

namespace weft {
namespace {

class NodePasses {
  public:
    NodePasses(const CountedRow& row, const RowSurvey::Part& part, std::uint32_t first_group, RowPasses& passes)
        : topology_(row.topology),
          tree_(*row.topology.router->tree()),
          sample_(row.sample),
          survey_(row.survey),
          move_(row.move),
          part_(part),
          first_group_(first_group),
          passes_(passes) {}

    void add() {
        if (part_.is_one()) {
            add_one();
        } else {
            add_many();
        }
    }

  private:
    // Calls visit(kind, within, i) for a message in its group and in those moved inside their nodes; `within` is to be
    // added to the ranks of the kind. `at`: in Part::climbing, if it is there.
    template <class Visit>
    void for_each_group(const RowSurvey::Message& message, bool climbs, std::size_t at, Visit visit) const {
        const std::vector<std::uint32_t>& within = survey_.row().within;
        for (std::size_t i = 0; i < within.size(); ++i) {
            if (climbs && i > 0) {
                visit(survey_.moved_kind(part_, at, i), 0U, static_cast<std::uint32_t>(i));
            } else {
                visit(message.kind, within[i], static_cast<std::uint32_t>(i));
            }
        }
    }
    template <class Visit>
    void for_each_message(Visit visit) const {
        std::size_t at = 0;
        for (std::uint32_t i = 0; i < part_.messages.size(); ++i) {
            const bool climbs = at < part_.climbing.size() && part_.climbing[at] == i;
            visit(part_.messages[i], climbs, at);
            if (climbs) ++at;
        }
    }

    void add_one() {
        for_each_message([&](const RowSurvey::Message& message, bool climbs, std::size_t at) {
            const bool leaves = sample_.weight(message.from + move_.nodes) > 0,
                       enters = sample_.weight(message.to + move_.nodes) > 0;
            if (!leaves && !enters) return;
            for_each_group(message, climbs, at, [&](std::uint32_t kind, std::uint32_t within, std::uint32_t i) {
                if (leaves) pass_node(message, kind, within, true, first_group_ + i, 1, passes_.sampled);
                if (enters) pass_node(message, kind, within, false, first_group_ + i, 1, passes_.sampled);
            });
        });
    }

    // An end of messages of one kind on a node.
    struct End {
        std::uint32_t node = 0, i = 0, kind = 0, within = 0;  // in row().within: i
        bool leaves = false;
        const RowSurvey::Message* message = nullptr;  // one of them
    };
    static constexpr auto key = [](const End& end) { return std::tuple(end.node, end.i, end.kind, end.leaves); };

    void add_many() {
        std::vector<End> ends;
        for_each_message([&](const RowSurvey::Message& message, bool climbs, std::size_t at) {
            for_each_group(message, climbs, at, [&](std::uint32_t kind, std::uint32_t within, std::uint32_t i) {
                ends.push_back({message.from, i, kind, within, true, &message});
                if (survey_.kinds().size_of(kind).across)
                    ends.push_back({message.to, i, kind, within, false, &message});
            });
        });
        std::ranges::sort(ends, {}, key);
        for (auto at = ends.begin(); at != ends.end();) {
            const std::uint32_t node = at->node;
            std::vector<LinkPasses> passes;
            while (at != ends.end() && at->node == node) {
                const auto next = std::find_if(at, ends.end(), [&](const End& end) { return key(end) != key(*at); });
                pass_node(*at->message, at->kind, at->within, at->leaves, first_group_ + at->i,
                          static_cast<std::uint32_t>(next - at), passes);
                at = next;
            }
            merge(passes);
            passes_.shown.insert(passes_.shown.end(), passes.begin(), passes.end());
            for (LinkPasses& each : passes) each.group = LinkPasses::several;
            merge(passes);
            repeat(node, passes);
        }
    }

    // What passes `node` in the first group passes one node of each other.
    void repeat(std::uint32_t node, std::span<const LinkPasses> passes) {
        const std::vector<RouteTree::Range> links = tree_.links({0, node + move_.nodes});
        for (const NodeRun run : part_.groups.moves) {
            const std::uint32_t first = node - part_.groups.first() + run.first + move_.nodes;
            for (auto live = std::ranges::lower_bound(sample_.nodes(), first);
                 live != sample_.nodes().end() && *live - first < run.count; ++live) {
                const std::vector<RouteTree::Range> there = tree_.links({0, *live});
                for (LinkPasses each : passes) {
                    std::size_t range = 0;
                    while (each.link < links[range].first || each.link >= links[range].end) ++range;
                    each.link = LinkId(static_cast<std::uint32_t>(index(each.link) - index(links[range].first) +
                                                                  index(there[range].first)));
                    passes_.sampled.push_back(each);
                }
            }
        }
    }

    // So many messages like this one, on links of the node that they leave or enter.
    void pass_node(const RowSurvey::Message& message, std::uint32_t number, std::uint32_t within, bool leaves,
                   std::uint32_t group, std::uint32_t times, std::vector<LinkPasses>& passes) const {
        const MessageKind& kind = survey_.kinds()[number];
        const MessageSize& size = survey_.kinds().sizes()[kind.size];
        const RankId from = survey_.kinds().rank(message.from + move_.nodes, kind.from + within),
                     to = survey_.kinds().rank(message.to + move_.nodes, kind.to + within);
        if (!size.across && !leaves) return;  // all on the node that it leaves
        const Route route = !size.across ? topology_.route(from, to, kind.channel)
                            : leaves     ? tree_.leaving(from, to)
                                         : tree_.entering(from, to);
        for (const LinkId link : route.links()) {
            passes.push_back({link, group, kind.size, times, times * size.detours});
        }
    }

    const Topology& topology_;
    const RouteTree& tree_;
    const FabricSample& sample_;
    const RowSurvey& survey_;
    const TreeMove& move_;
    const RowSurvey::Part& part_;
    std::uint32_t first_group_;
    RowPasses& passes_;
};

}  // namespace

void add_node_passes(const CountedRow& row, const RowSurvey::Part& part, std::uint32_t first_group, RowPasses& passes) {
    NodePasses(row, part, first_group, passes).add();
}

}  // namespace weft
