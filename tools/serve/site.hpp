// What is answered to which request: a pure function, whatever carries requests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tools/serve/form_choices.hpp"
#include "tools/serve/requested_job.hpp"

namespace weft {

// Why not, or nothing. A page from elsewhere reaches a server on this machine by a name of its own that leads here (DNS
// rebinding), which Host tells, or by a request across origins, which Origin and Sec-Fetch-Site tell; links from
// anywhere may lead here.
std::string foreign(const HttpRequest& request, std::uint16_t port);

// Header fields that every answer has: a page runs its own scripts only, loads nothing from elsewhere, is kept nowhere
// and framed by nobody else.
std::vector<std::pair<std::string, std::string>> security_fields(const HttpResponse& answer);

struct Site {
    std::uint16_t port = 0;
    FormChoices choices;
    std::optional<StartingJob> own{};  // of the command line
};

// What an answer takes at most.
enum class AnswerWork : std::uint8_t { one_simulation, many_simulations };
AnswerWork work_of(std::string_view target);

// Of any request; the body says why there is no page. HEAD is answered as GET.
HttpResponse answer(const Site& site, const HttpRequest& request);

// Answers to requests about a job.

struct RefusedRequest {
    unsigned status = 422;
    std::string error;                          // in a line
    std::span<const Diagnostic> diagnostics{};  // where in the job
    std::string text{};                         // more, in lines
};

// JSON {"error", "diagnostics", "text"}; as a page, whose element "refusal" has that JSON in data-refusal, where
// `accept` asks for HTML.
HttpResponse refusal(const RefusedRequest& refused, std::string_view accept);

}  // namespace weft
