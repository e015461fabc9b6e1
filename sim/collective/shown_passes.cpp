#include "sim/collective/shown_passes.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "sim/collective/node_links.hpp"

namespace weft {
namespace {

class Shower {
  public:
    Shower(const Topology& topology, const Circles& circles, const RowSurvey& survey)
        : topology_(topology), tree_(*topology.fabric()), circles_(circles), survey_(survey) {}

    ShownPasses passes() {
        shown_.on_nodes.resize(survey_.contents().size());
        is_shown_.assign(survey_.contents().size(), false);
        is_shown_.front() = true;
        for (const Part& part : survey_.parts()) {
            add_nodes(part);
            add_circles(part);
        }
        return std::move(shown_);
    }

  private:
    using Part = RowSurvey::Part;
    static constexpr std::uint32_t nowhere = 0xffffffff;

    // Of the part's nodes, by place, the first of each content that no part before has shown.
    std::vector<std::uint32_t> new_nodes(const Part& part) {
        std::vector<std::uint32_t> nodes;
        for (std::uint32_t node = 0; node < part.contents.size(); ++node) {
            const std::uint32_t content = part.contents[node];
            if (!is_shown_[content]) nodes.push_back(node);
            is_shown_[content] = true;
        }
        return nodes;
    }

    void add_nodes(const Part& part) {
        const std::vector<std::uint32_t> nodes = new_nodes(part);
        if (nodes.empty()) return;
        std::vector<std::uint32_t> shown(part.contents.size(), nowhere);  // where among `nodes`
        for (std::uint32_t i = 0; i < nodes.size(); ++i) shown[nodes[i]] = i;

        const NodeLinks links(topology_, survey_, part);
        struct Touch {
            NodeLinks::Each each;
            std::uint32_t leaves = 0, enters = 0;  // of `nodes`, or nowhere
        };
        std::vector<Touch> touches;
        std::vector<std::uint32_t> of_nodes;  // of messages in a row, those at `nodes`
        for (std::uint32_t at = 0; at < part.messages.size(); ++at) {
            const RowSurvey::Messages& messages = part.messages[at];
            const auto touch = [&](std::uint32_t i) {
                const std::uint32_t leaves = shown[messages[i].from], enters = shown[messages[i].to];
                if (leaves != nowhere || enters != nowhere) touches.push_back({links.each(at, i), leaves, enters});
            };
            if (messages.count <= 2 * nodes.size()) {
                for (std::uint32_t i = 0; i < messages.count; ++i) touch(i);
                continue;
            }
            of_nodes.clear();
            for (const std::uint32_t node : nodes) {
                if (const auto i = messages.that_leaves(node)) of_nodes.push_back(*i);
                if (const auto i = messages.that_enters(node)) of_nodes.push_back(*i);
            }
            std::ranges::sort(of_nodes);
            of_nodes.erase(std::unique(of_nodes.begin(), of_nodes.end()), of_nodes.end());
            for (const std::uint32_t i : of_nodes) touch(i);
        }
        const std::uint32_t kinds = survey_.kinds().size();
        std::vector<std::vector<LinkPasses>> passes(nodes.size());
        std::vector<NodeLinks::Alike> ends(nodes.size() * kinds *
                                           2);  // kind by kind: those that leave, those that enter
        for (std::uint32_t i = 0; i < survey_.row().within.size(); ++i) {
            for (const Touch& touch : touches) {
                const NodeLinks::Moved moved = links.moved(touch.each, i);
                const auto add = [&](std::uint32_t node, std::size_t end) {
                    if (node == nowhere) return;
                    NodeLinks::Alike& alike = ends[(std::size_t{node} * kinds + moved.kind) * 2 + end];
                    alike = {touch.each.message, moved, alike.times + 1};
                };
                add(touch.leaves, 0);
                add(touch.enters, 1);
            }
            for (std::size_t end = 0; end < ends.size(); ++end) {
                if (ends[end].times == 0) continue;
                links.pass(std::exchange(ends[end], {}), end % 2 == 0, i, passes[end / 2 / kinds]);
            }
        }
        for (std::size_t node = 0; node < nodes.size(); ++node) {
            merge(passes[node]);
            ShownPasses::OnNode& shown_node = shown_.on_nodes[part.contents[nodes[node]]];
            shown_node = {survey_.node(part, nodes[node]), passes[node], std::move(passes[node])};
            for (LinkPasses& each : shown_node.passes) each.group = LinkPasses::several;
            merge(shown_node.passes);
        }
    }

    void add_circles(const Part& part) {
        std::vector<const RowSurvey::Bundle*> bundles;
        for (const RowSurvey::Bundle& bundle : part.bundles) bundles.push_back(&bundle);
        const auto key = [](const RowSurvey::Bundle* bundle) { return std::pair(bundle->circle, bundle->group); };
        std::ranges::sort(bundles, {}, key);
        for (auto at = bundles.begin(); at != bundles.end();) {
            const auto end =
                std::find_if(at, bundles.end(), [&](const auto* bundle) { return key(bundle) != key(*at); });
            add_circle(part, {at, end}, {});
            // Ways that share links do so wherever they are turned to, but not the same ones.
            if (!tree_.parts_ways(circles_.tier((*at)->circle)) && (*at)->group == 0) {
                for (const TreeMove& rail : part.rails) add_circle(part, {at, end}, rail);
            }
            at = end;
        }
    }

    // What a group passes of a circle, by several bundles if it shows others.
    void add_circle(const Part& part, std::span<const RowSurvey::Bundle* const> bundles, const TreeMove& move) {
        const RowSurvey::Bundle& first = *bundles.front();
        const std::uint32_t tier = circles_.tier(first.circle);
        const std::uint64_t ways = tree_.ways(tier);
        const std::uint64_t way = tree_.parts_ways(tier) ? 0 : (first.way + move.ways) % ways;
        const bool is_only = bundles.size() == 1;
        if (is_only && !known_.insert({tier, way, first.passing.a, first.passing.b}).second) return;  // as another did
        const Circle circle = circles_[move.circle(circles_, first.circle)];
        const std::size_t before = shown_.on_circles.size();
        for (const RowSurvey::Bundle* const bundle : bundles) {
            for (std::uint32_t p = bundle->first; p < bundle->end; ++p) {
                const RowSurvey::Passage& passage = part.passages[p];
                survey_.for_each_way(passage, move.ways, ways,
                                     [&](std::uint64_t taken, std::uint32_t routes, std::uint32_t detours) {
                                         shown_.on_circles.push_back({tree_.link(circle.place, taken, circle.down),
                                                                      shown_circles_, passage.size, routes, detours});
                                     });
            }
        }
        merge(shown_.on_circles, before);
        ++shown_circles_;
    }

    const Topology& topology_;
    const RouteTree& tree_;
    const Circles& circles_;
    const RowSurvey& survey_;
    ShownPasses shown_;
    std::uint32_t shown_circles_ = 0;
    std::vector<bool> is_shown_;                                                              // by content
    std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>> known_;  // bundles of one circle
};

}  // namespace

ShownPasses shown_passes(const Topology& topology, const Circles& circles, const RowSurvey& survey) {
    return Shower(topology, circles, survey).passes();
}

}  // namespace weft
