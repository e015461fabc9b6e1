#include "sim/collective/row_passes.hpp"

namespace weft {

void add_mesh_passes(const CountedRow& row, std::vector<LinkPasses>& passes) {
    auto sampled = row.sample.mesh_links().begin();
    for (const LinkPasses& each : row.survey.mesh().of_all) {
        while (sampled != row.sample.mesh_links().end() && *sampled < each.link) ++sampled;
        if (sampled == row.sample.mesh_links().end()) return;
        if (*sampled == each.link) passes.push_back(each);
    }
}

std::vector<LinkPasses> passes_of(const CountedRow& row) {
    std::vector<LinkPasses> passes;
    passes.reserve(1024);
    // Those of nodes are mostly in the order of links, those of circles are not, and come after them.
    for (const RowSurvey::Part& part : row.survey.parts()) add_node_passes(row, part, passes);
    merge(passes);
    const std::size_t of_nodes = passes.size();
    for (const RowSurvey::Part& part : row.survey.parts()) add_circle_passes(row, part, passes);
    add_mesh_passes(row, passes);
    merge(passes, of_nodes);
    const bool is_apart =
        of_nodes == 0 || of_nodes == passes.size() || passes[of_nodes - 1].link < passes[of_nodes].link;
    if (!is_apart) merge(passes);
    passes.shrink_to_fit();
    return passes;
}

}  // namespace weft
