// The target of a request: a path and parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

struct RequestTarget {
    std::string path;                                               // "/simulate"
    std::vector<std::pair<std::string, std::string>> parameters{};  // decoded, in their order
};

// As browsers encode forms (WHATWG URL, application/x-www-form-urlencoded). Nothing where an escape is cut or wrong, or
// what is encoded is no UTF-8.
std::optional<RequestTarget> parse_target(std::string_view target);

bool is_utf8(std::string_view text);

}  // namespace weft
