// Answers that say why there is no page: to programs as JSON, to people as a page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/io/diagnostics.hpp"
#include "tools/serve/exchange.hpp"

namespace weft {

struct RefusedRequest {
    unsigned status = 422;
    std::string error;                          // in a line
    std::span<const Diagnostic> diagnostics{};  // where in the job
    std::string text{};                         // more, in lines
};

// JSON {"error", "diagnostics", "text"}; as a page, whose element "refusal" has that JSON in data-refusal, where
// `accept` asks for HTML.
HttpAnswer refusal(const RefusedRequest& refused, std::string_view accept);

}  // namespace weft
