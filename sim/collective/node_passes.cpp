#include <algorithm>
#include <span>
#include <vector>

#include "sim/collective/node_links.hpp"
#include "sim/collective/row_passes.hpp"

namespace weft {
namespace {

// Of a group that shows no others but those moved inside its nodes.
void add_one(const CountedRow& row, const RowSurvey::Part& part, std::vector<LinkPasses>& passes) {
    const NodeLinks links(row.topology, row.survey, part, row.move.nodes);
    const auto within = static_cast<std::uint32_t>(row.survey.row().within.size());
    links.for_each_message([&](const RowSurvey::Message& message, auto moved) {
        const bool leaves = row.sample.weight(message.from + row.move.nodes) > 0,
                   enters = row.sample.weight(message.to + row.move.nodes) > 0;
        for (std::uint32_t i = 0; i < within && (leaves || enters); ++i) {
            if (leaves) links.pass({&message, moved(i), 1}, true, part.first_group + i, passes);
            if (enters) links.pass({&message, moved(i), 1}, false, part.first_group + i, passes);
        }
    });
}

// What passes `node` in the first group passes one node of each other.
void repeat(const CountedRow& row, const RowSurvey::Part& part, std::uint32_t node, std::span<const LinkPasses> shown,
            std::vector<LinkPasses>& passes) {
    const RouteTree& tree = *row.topology.router->tree();
    const std::vector<std::uint32_t>& sampled = row.sample.nodes();
    const std::vector<RouteTree::Range> here = tree.links({0, node});
    for (const NodeRun run : part.groups.moves) {
        const std::uint32_t first = node - part.groups.first() + run.first + row.move.nodes;
        for (auto to = std::ranges::lower_bound(sampled, first); to != sampled.end() && *to - first < run.count; ++to) {
            const std::vector<RouteTree::Range> there = tree.links({0, *to});
            for (LinkPasses each : shown) {
                std::size_t range = 0;
                while (each.link < here[range].first || each.link >= here[range].end) ++range;
                each.link = LinkId(static_cast<std::uint32_t>(index(each.link) - index(here[range].first) +
                                                              index(there[range].first)));
                passes.push_back(each);
            }
        }
    }
}

}  // namespace

void add_node_passes(const CountedRow& row, std::size_t number, std::vector<LinkPasses>& passes) {
    const RowSurvey::Part& part = row.survey.parts()[number];
    if (part.is_one()) return add_one(row, part, passes);
    for (std::size_t i = 0; i < part.nodes.size(); ++i) {
        repeat(row, part, part.nodes[i].node, row.shown.on_nodes[number][i], passes);
    }
}

}  // namespace weft
