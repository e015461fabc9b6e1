// Pages about the job of a request, the same as the commands write with --report.
#pragma once

#include <chrono>

#include "tools/serve/exchange.hpp"
#include "tools/serve/target.hpp"

namespace weft {

// The work for a client that left, or whose time is over.
struct NobodyWaits {};
struct TimeIsOver {};
inline constexpr std::chrono::seconds longest_work{180};

// Throw ConfigError, RangeError and std::invalid_argument for the job, NobodyWaits, TimeIsOver. A job that does not fit
// in memory is refused as the commands do.
HttpAnswer step_answer(const HttpRequest& request, const RequestTarget& target);         // weft simulate
HttpAnswer explanation_answer(const HttpRequest& request, const RequestTarget& target);  // weft explain
HttpAnswer search_answer(const HttpRequest& request, const RequestTarget& target);       // weft plan
HttpAnswer job_file_answer(const HttpRequest& request, const RequestTarget& target);     // the job to be saved

}  // namespace weft
