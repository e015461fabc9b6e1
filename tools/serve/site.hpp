// What is answered to which request: a pure function, whatever carries requests; and the form that jobs are chosen in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "tools/serve/requested_job.hpp"

namespace weft {

// What the form offers: the keys of a job file as their reader knows them, with what weft ships.
struct FormField {
    std::string key, meaning;
    std::string otherwise{};  // what it is where nothing is said; empty: unknown
    enum class Input : std::uint8_t { choice, number, text } input = Input::text;
    std::vector<std::pair<std::string, std::string>> choices{};  // of a choice: value and what is shown
};

struct FormGroup {
    std::string title;
    std::vector<FormField> fields;
};

struct StartingJob {
    std::string name, summary;
    Parameters parameters;
};

struct FormChoices {
    std::vector<FormGroup> groups;
    std::vector<FormField> others;  // keys that are in no group
    std::vector<StartingJob> jobs;  // those that weft ships
};

FormChoices form_choices();

// The page with the form: a job key by key, and below it what comes of it. `values`: of the job that it begins with, on
// which there may be notes. `own`: the job of the command line, offered beside those of `choices`.
std::string form_page(const FormChoices& choices, const Parameters& values, const std::optional<StartingJob>& own,
                      std::span<const FormatNote> notes = {});

inline constexpr std::string_view pasted_name = "pasted";  // of the form that a launch script is pasted into

inline constexpr std::string_view asked_job = "job";  // the parameter that names a shipped job in place of its keys

// "layout.tensor=4&nodes=8", as an address has it behind the question mark.
std::string query_of(const Parameters& values);

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
