#include "workloads/layout/layout.hpp"

#include <fmt/format.h>

namespace weft {

std::string axes(const Layout& layout) {
    std::string text = fmt::format("tensor {}", layout.tensor);
    if (layout.context > 1) text += fmt::format(" x context {}", layout.context);
    text += fmt::format(" x pipeline {} x data {}", layout.pipeline, layout.data);
    if (layout.expert > 1) text += fmt::format(" (expert {})", layout.expert);
    return text;
}

}  // namespace weft
