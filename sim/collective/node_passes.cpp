#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/collective/row_passes.hpp"

namespace weft {
namespace {

// What is shown of one node in a range of its links, on another.
void add_moved(const ShownPasses::OnNode& shown, RouteTree::Range here, RouteTree::Range there,
               std::vector<LinkPasses>& passes) {
    auto each = std::ranges::lower_bound(shown.passes, here.first, {}, &LinkPasses::link);
    for (; each != shown.passes.end() && each->link < here.end; ++each) {
        passes.push_back(*each);
        passes.back().link =
            LinkId(static_cast<std::uint32_t>(index(each->link) - index(here.first) + index(there.first)));
    }
}

// Calls visit(sampled, shown) for every node of the sample that a group of the part is on, which passes it as shown.
template <class Visit>
void for_each_sampled(const CountedRow& row, const RowSurvey::Part& part, Visit visit) {
    const std::vector<std::uint32_t>& nodes = row.survey.nodes();
    const auto as_wide = [](std::uint32_t node) { return std::int64_t{node}; };
    for (const std::uint32_t sampled : row.sample.nodes()) {
        for (const NodeRun run : part.groups.moves) {
            // Where it is in the groups moved first, and last, by the run.
            const std::int64_t last = std::int64_t{sampled} - row.move.nodes - run.first, first = last - run.count + 1;
            for (auto at = std::ranges::lower_bound(nodes, first, {}, as_wide); at != nodes.end() && *at <= last;
                 ++at) {
                const std::uint32_t content = part.contents[static_cast<std::size_t>(at - nodes.begin())];
                if (content > 0) visit(sampled, row.shown.on_nodes[content]);
            }
        }
    }
}

}  // namespace

// By range of a node's links, which is mostly the order of links.
void add_node_passes(const CountedRow& row, const RowSurvey::Part& part, std::vector<LinkPasses>& passes) {
    const RouteTree& tree = *row.topology.fabric();
    const std::size_t ranges = tree.links({0, 0}).size();
    for (std::size_t range = 0; range < ranges; ++range) {
        for_each_sampled(row, part, [&](std::uint32_t sampled, const ShownPasses::OnNode& shown) {
            add_moved(shown, tree.links({0, shown.node})[range], tree.links({0, sampled})[range], passes);
        });
    }
}

}  // namespace weft
