#include "workloads/layout/layout.hpp"

#include <fmt/format.h>

namespace weft {

RankGrid Layout::grid() const {
    std::vector<Axis> sized;
    for (const std::string& axis : order) {
        const std::uint32_t size = axis == "tensor"    ? tensor
                                   : axis == "context" ? context
                                   : axis == "data"    ? data
                                                       : pipeline;
        sized.push_back({axis, size});
    }
    return RankGrid(std::move(sized));
}

std::string axes(const Layout& layout) {
    std::string text = fmt::format("tensor {}", layout.tensor);
    if (layout.context > 1) text += fmt::format(" x context {}", layout.context);
    text += fmt::format(" x pipeline {} x data {}", layout.pipeline, layout.data);
    if (layout.expert > 1) text += fmt::format(" (expert {})", layout.expert);
    return text;
}

}  // namespace weft
