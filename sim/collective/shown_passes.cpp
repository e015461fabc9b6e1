#include "sim/collective/shown_passes.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "sim/collective/node_links.hpp"

namespace weft {
namespace {

class Shower {
  public:
    Shower(const Topology& topology, const Circles& circles, const RowSurvey& survey)
        : topology_(topology), tree_(*topology.router->tree()), circles_(circles), survey_(survey) {}

    ShownPasses passes() {
        for (const Part& part : survey_.parts()) {
            if (part.is_one()) {
                shown_.on_nodes.emplace_back();
            } else {
                add_nodes(part);
                add_circles(part);
            }
        }
        return std::move(shown_);
    }

  private:
    using Part = RowSurvey::Part;

    void add_nodes(const Part& part) {
        const NodeLinks links(topology_, survey_, part, 0);
        const std::uint32_t kinds = survey_.kinds().size();
        std::vector<std::vector<LinkPasses>> on_node(part.nodes.size());
        const auto place = [&](std::uint32_t node) {
            const auto found = std::ranges::lower_bound(part.nodes, node, {}, &RowSurvey::OnNode::node);
            return static_cast<std::size_t>(found - part.nodes.begin());
        };
        std::vector<NodeLinks::Alike> ends;  // node by node, kind by kind: those that leave, those that enter
        for (std::uint32_t i = 0; i < survey_.row().within.size(); ++i) {
            ends.assign(part.nodes.size() * kinds * 2, {});
            links.for_each_message([&](const RowSurvey::Message& message, auto moved) {
                const NodeLinks::Moved in_group = moved(i);
                const auto add = [&](std::uint32_t node, std::size_t end) {
                    NodeLinks::Alike& alike = ends[(place(node) * kinds + in_group.kind) * 2 + end];
                    alike = {&message, in_group, alike.times + 1};
                };
                add(message.from, 0);
                add(message.to, 1);
            });
            for (std::size_t end = 0; end < ends.size(); ++end) {
                if (ends[end].times == 0) continue;
                links.pass(ends[end], end % 2 == 0, part.first_group + i, on_node[end / 2 / kinds]);
            }
        }
        for (std::vector<LinkPasses>& passes : on_node) {
            merge(passes);
            shown_.of_groups.insert(shown_.of_groups.end(), passes.begin(), passes.end());
            for (LinkPasses& each : passes) each.group = LinkPasses::several;
            merge(passes);
        }
        shown_.on_nodes.push_back(std::move(on_node));
    }

    // A group that shows others may pass a circle by several bundles.
    void add_circles(const Part& part) {
        std::vector<std::uint32_t> order(part.bundles.size());
        std::iota(order.begin(), order.end(), 0);
        const auto circle_of = [&](std::uint32_t i) {
            return std::pair(part.bundles[i].circle, part.bundles[i].group);
        };
        std::ranges::sort(order, {}, circle_of);
        std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> known;
        for (std::size_t i = 0; i < order.size();) {
            const RowSurvey::Bundle& first = part.bundles[order[i]];
            const std::uint32_t tier = circles_.tier(first.circle);
            const bool is_only = i + 1 == order.size() || circle_of(order[i + 1]) != circle_of(order[i]);
            if (is_only && !known.insert({tier, first.passing.a, first.passing.b}).second) {  // as another did
                ++i;
                continue;
            }
            const Circle circle = circles_[first.circle];
            const std::size_t before = shown_.of_groups.size();
            for (const auto of = circle_of(order[i]); i < order.size() && circle_of(order[i]) == of; ++i) {
                const RowSurvey::Bundle& bundle = part.bundles[order[i]];
                for (std::uint32_t p = bundle.first; p < bundle.end; ++p) {
                    const RowSurvey::Passage& passage = part.passages[p];
                    survey_.for_each_way(passage, 0, tree_.ways(tier),
                                         [&](std::uint64_t way, std::uint32_t routes, std::uint32_t detours) {
                                             shown_.of_groups.push_back({tree_.link(circle.place, way, circle.down),
                                                                         part.first_group + bundle.group, passage.size,
                                                                         routes, detours});
                                         });
                }
            }
            merge(shown_.of_groups, before);
        }
    }

    const Topology& topology_;
    const RouteTree& tree_;
    const Circles& circles_;
    const RowSurvey& survey_;
    ShownPasses shown_;
};

}  // namespace

ShownPasses shown_passes(const Topology& topology, const Circles& circles, const RowSurvey& survey) {
    return Shower(topology, circles, survey).passes();
}

}  // namespace weft
