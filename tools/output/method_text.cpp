#include "tools/output/method_text.hpp"

#include <fmt/format.h>

namespace weft {

std::string method_text(const Method& method) {
    const std::string text = method.protocol.empty() ? method.algorithm : method.algorithm + ' ' + method.protocol;
    if (method.channels < 2) return text;
    return fmt::format("{}, {} channels", text, method.channels);
}

}  // namespace weft
