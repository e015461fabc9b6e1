#include "sim/collective/row_passes.hpp"

namespace weft {

std::vector<LinkPasses> passes_of(const CountedRow& row) {
    std::vector<LinkPasses> passes;
    std::uint32_t first_group = 0;
    for (std::size_t part = 0; part < row.survey.parts().size(); ++part) {
        add_node_passes(row, part, first_group, passes);
        add_circle_passes(row, part, first_group, passes);
        first_group += static_cast<std::uint32_t>(row.survey.row().within.size());
    }
    merge(passes);
    passes.shrink_to_fit();
    return passes;
}

}  // namespace weft
