// What is answered to which request: a pure function, whatever carries requests; and the form that jobs are chosen in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// The job that a request asks about.

using Parameters = std::vector<std::pair<std::string, std::string>>;  // key and value of a job, as in an address

// A request to the server and its answer as values, whatever carries them.

struct HttpRequest {
    std::string method, target, body;  // "GET", "/simulate?nodes=4", what is posted
    // Header fields; empty where there are none.
    std::string host{}, origin{}, fetch_site{}, fetch_mode{}, accept{};
    std::stop_token left{};  // whether the client went away, or the server ends
};

struct HttpResponse {
    unsigned status = 200;
    std::string type = "text/html; charset=utf-8";
    std::string body;
    std::vector<std::pair<std::string, std::string>> fields{};  // header fields beside those of every answer
};

// The target of a request: a path and parameters.
struct RequestTarget {
    std::string path;         // "/simulate"
    Parameters parameters{};  // decoded, in their order
};

// As browsers encode forms (WHATWG URL, application/x-www-form-urlencoded). Nothing where an escape is cut or wrong, or
// what is encoded is no UTF-8.
std::optional<RequestTarget> parse_target(std::string_view target);

bool is_utf8(std::string_view text);

inline constexpr const char* requested_name = "job.json";  // what a client's job is called, and as what it is saved

// The text of a job file, and notes on what is another tool's.
struct RequestedJob {
    std::string text;
    std::vector<FormatNote> notes;
};

// What is posted, a job or what another tool wrote for its launch, with what the parameters say, "key.path=value" as
// --set takes them; empty values say nothing. No file is named in it (keep_to_shipped_names). Throws ConfigError.
RequestedJob requested_job(const HttpRequest& request, const RequestTarget& target);

// A job file of the command line as such a text: machine and model from files, and those that a file of another tool
// describes, stand in it. Throws ConfigError, also where a file cannot be said so.
std::string self_contained_job(Document job);

// "key.path=value" of everything that a job says, to be the parameters of an address. Lists stay whole.
Parameters parameters_of(std::string_view job);

// Which jobs a page is made of while somebody waits.
inline constexpr std::uint64_t most_ranks_of_page = 1U << 18U;
// Of one rank of each stage: with the page at most some 1.2 GB, and mostly a quarter of it.
inline constexpr double most_operations_of_page = 1e7;
// Of a step whose layout is searched: every division of them is looked at.
inline constexpr std::uint64_t most_sequences_of_search = 1'000'000;

// Throw ConfigError with the numbers: a job beyond these is one for the command line.
void check_page_size(const Job& job);
void check_search_size(const Job& job);

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
