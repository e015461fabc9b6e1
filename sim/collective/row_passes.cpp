#include "sim/collective/row_passes.hpp"

namespace weft {

std::vector<LinkPasses> passes_of(const CountedRow& row) {
    std::vector<LinkPasses> passes;
    for (std::size_t part = 0; part < row.survey.parts().size(); ++part) {
        add_node_passes(row, part, passes);
        add_circle_passes(row, part, passes);
    }
    merge(passes);
    passes.shrink_to_fit();
    return passes;
}

}  // namespace weft
