#include "sim/collective/row_passes.hpp"

#include <algorithm>
#include <tuple>

namespace weft {

void merge(std::vector<LinkPasses>& passes, std::size_t first) {
    const auto key = [](const LinkPasses& each) { return std::tuple(each.link, each.group, each.size); };
    const auto begin = passes.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, passes.end(), [&](const LinkPasses& a, const LinkPasses& b) { return key(a) < key(b); });
    std::size_t kept = first;
    for (std::size_t i = first; i < passes.size(); ++i) {
        if (kept > first && key(passes[kept - 1]) == key(passes[i])) {
            passes[kept - 1].routes += passes[i].routes;
            passes[kept - 1].detours += passes[i].detours;
        } else {
            passes[kept++] = passes[i];
        }
    }
    passes.resize(kept);
}

RowPasses passes_of(const CountedRow& row) {
    RowPasses passes;
    std::uint32_t first_group = 0;
    for (const RowSurvey::Part& part : row.survey.parts()) {
        add_node_passes(row, part, first_group, passes);
        add_circle_passes(row, part, first_group, passes);
        first_group += static_cast<std::uint32_t>(row.survey.row().within.size());
    }
    merge(passes.sampled);
    passes.sampled.shrink_to_fit();
    return passes;
}

}  // namespace weft
