// Answers to requests about a job.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "sim/io/diagnostics.hpp"
#include "tools/serve/request.hpp"

namespace weft {

struct RefusedRequest {
    unsigned status = 422;
    std::string error;                          // in a line
    std::span<const Diagnostic> diagnostics{};  // where in the job
    std::string text{};                         // more, in lines
};

// JSON {"error", "diagnostics", "text"}; as a page, whose element "refusal" has that JSON in data-refusal, where
// `accept` asks for HTML.
HttpResponse refusal(const RefusedRequest& refused, std::string_view accept);

// Pages about the job of a request, the same as the commands write with --report.

// The work for a client that left, or whose time is over.
struct NobodyWaits {};
struct TimeIsOver {};
inline constexpr std::chrono::seconds longest_work{180};

// Throw ConfigError, RangeError and std::invalid_argument for the job, NobodyWaits, TimeIsOver. A job that does not fit
// in memory is refused as the commands do.
HttpResponse step_answer(const HttpRequest& request, const RequestTarget& target);         // weft simulate
HttpResponse explanation_answer(const HttpRequest& request, const RequestTarget& target);  // weft explain
HttpResponse search_answer(const HttpRequest& request, const RequestTarget& target);       // weft plan
HttpResponse job_file_answer(const HttpRequest& request, const RequestTarget& target);     // the job to be saved

}  // namespace weft
