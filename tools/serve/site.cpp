#include "tools/serve/site.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/case_conv.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/base/check.hpp"
#include "tools/command.hpp"
#include "tools/digest.hpp"
#include "tools/explain/job_explanation.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/plan/request.hpp"

namespace weft {
namespace {

bool is_this_server(std::string_view host, std::uint16_t port) {
    constexpr std::array<std::string_view, 3> names{"localhost", "127.0.0.1", "[::1]"};
    constexpr std::uint16_t usual_port = 80;
    const std::string small = boost::to_lower_copy(std::string(host));
    return std::ranges::any_of(names, [&](std::string_view name) {
        return small == fmt::format("{}:{}", name, port) || (port == usual_port && small == name);
    });
}

// RFC 4648, of bytes that are given by two hexadecimal digits each.
std::string base64(std::string_view hexadecimal) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < hexadecimal.size(); at += 6) {
        const std::string_view digits = hexadecimal.substr(at, 6);  // three bytes are four letters
        std::uint32_t bits = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
        bits <<= 4 * (6 - digits.size());
        for (std::size_t letter = 0; letter < 4; ++letter) {
            const bool is_there = letter <= digits.size() / 2;
            text += is_there ? letters[bits >> (18 - 6 * letter) & 63U] : '=';
        }
    }
    return text;
}

// Of every script of a page as "'sha256-...'", which alone then runs (CSP level 2). Texts of a page have no "<".
std::string scripts_of(std::string_view page) {
    constexpr std::string_view begin = "<script>", end = "</script>";
    std::string hashes;
    for (std::size_t at = page.find(begin); at != std::string_view::npos; at = page.find(begin, at)) {
        at += begin.size();
        hashes += fmt::format(" 'sha256-{}'", base64(sha256(page.substr(at, page.find(end, at) - at))));
    }
    return hashes.empty() ? " 'none'" : hashes;
}

const SimulationOptions options_of_pages{.folding = Folding::automatic, .recording = Recording::spans_and_links};

// A job that a page can be made of.
struct ServableJob {
    std::string text;
    Study study;
    JobInput input;
};

ServableJob servable(const HttpRequest& request, const RequestTarget& target, const char* command,
                     Purpose purpose = Purpose::simulation, void (*check_size)(const Job&) = check_page_size) {
    RequestedJob asked = requested_job(request, target);
    const Document document = Document::parse(requested_name, asked.text);
    Study study = read_study(document.copy(), purpose);
    check_size(study.job);
    JobInput input{.command = fmt::format("weft {} {}", command, requested_name),
                   .text = document.text(),
                   .notes = std::move(asked.notes)};
    return {std::move(asked.text), std::move(study), std::move(input)};
}

JobSource source_of(const ServableJob& job) {
    JobSource source{std::string(requested_name)};
    source.text = job.text;
    return source;
}

std::optional<HttpResponse> refused_for_memory(const ServableJob& job, const Plan& plan, const HttpRequest& request) {
    if (plan.fits()) return std::nullopt;
    const std::string text = memory_refusal(plan, memory_advice(job.study), "");
    const std::size_t line = text.find('\n');
    return refusal({.error = text.substr(0, line), .text = text.substr(line + 1)}, request.accept);
}

// The work for a client that left, or whose time is over.
struct NobodyWaits {};
struct TimeIsOver {};
constexpr std::chrono::seconds longest_work{180};

std::function<void(std::size_t, std::size_t)> while_somebody_waits(const HttpRequest& request) {
    return [left = request.left, end = std::chrono::steady_clock::now() + longest_work](std::size_t, std::size_t) {
        if (left.stop_requested()) throw NobodyWaits{};
        if (std::chrono::steady_clock::now() > end) throw TimeIsOver{};
    };
}

// Pages about the job of a request, the same as the commands write with --report. Throw ConfigError, RangeError and
// std::invalid_argument for the job, NobodyWaits, TimeIsOver. A job that does not fit in memory is refused as the
// commands do.

HttpResponse explained_answer(const HttpRequest& request, const RequestTarget& target, const char* command,
                              const ExplainOptions& options) {
    const ServableJob job = servable(request, target, command);
    if (auto refused = refused_for_memory(job, make_plan(job.study), request)) return *refused;
    const JobExplanation explained = explain_job(job.study, {.source = source_of(job), .overrides = {}}, options);
    return {.body = explained_page(explained, job.input, fmt::format("weft simulate {}", requested_name))};
}

HttpResponse step_answer(const Site&, const HttpRequest& request, const RequestTarget& target) {
    return explained_answer(request, target, "simulate", {.simulation = options_of_pages, .changes = false});
}

HttpResponse explanation_answer(const Site&, const HttpRequest& request, const RequestTarget& target) {
    return explained_answer(
        request, target, "explain",
        {.simulation = options_of_pages, .threads = all_threads(), .progress = while_somebody_waits(request)});
}

HttpResponse search_answer(const Site&, const HttpRequest& request, const RequestTarget& target) {
    const ServableJob job = servable(request, target, "plan", Purpose::equations, check_search_size);
    const PlanRequest asked{.job = source_of(job), .overrides = {}, .among = {}};
    const PlanResult result = search_layouts(
        read_space(asked), {.every = true, .threads = all_threads(), .progress = while_somebody_waits(request)});
    return {.body =
                search_page(asked, result,
                            {.plan = job.input.command, .simulate = fmt::format("weft simulate {}", requested_name)})};
}

HttpResponse job_file_answer(const Site&, const HttpRequest& request, const RequestTarget& target) {
    return {.type = "application/json",
            .body = requested_job(request, target).text,
            .fields = {{"Content-Disposition", fmt::format("attachment; filename=\"{}\"", requested_name)}}};
}

// A question of few words as the job that the form begins with: the rest is assumed, the layout is that which `weft
// plan` finds best, and notes say so.
HttpResponse asked_answer(const Site& site, const HttpRequest& request, const RequestTarget& target) {
    auto said = list_of<std::string>(parameters_of(requested_job(request, target).text),
                                     [](const auto& each) { return each.first + "=" + each.second; });
    check_search_size(read_study(open_job(JobSource(), said).document, Purpose::equations).job);
    const BestLayout best = best_layout(said, while_somebody_waits(request));
    said.insert(said.end(), best.assignments.begin(), best.assignments.end());
    OpenedJob job = open_job(JobSource(), said);
    job.notes.insert(job.notes.begin(), FormatNote{.origin = {}, .message = best.note});
    return {.body = form_page(site.choices, parameters_of(job.document.text()), site.own, job.notes)};
}

struct ServedPath {
    std::string_view path;
    AnswerWork work;
    HttpResponse (*of_job)(const Site&, const HttpRequest&, const RequestTarget&);
};
constexpr std::array routes = std::to_array<ServedPath>({
    {"/ask", AnswerWork::many_simulations, asked_answer},
    {"/simulate", AnswerWork::one_simulation, step_answer},
    {"/explain", AnswerWork::many_simulations, explanation_answer},
    {"/plan", AnswerWork::many_simulations, search_answer},
    {"/job.json", AnswerWork::one_simulation, job_file_answer},
});

HttpResponse form_answer(const Site& site, const RequestTarget& target) {
    Parameters values = target.parameters;
    if (values.size() == 1 && values.front().first == asked_job) {
        const auto job = std::ranges::find(site.choices.jobs, values.front().second, &StartingJob::name);
        values = job == site.choices.jobs.end() ? Parameters() : job->parameters;
    }
    if (values.empty() && site.own) values = site.own->parameters;
    if (values.empty() && !site.choices.jobs.empty()) values = site.choices.jobs.front().parameters;
    return {.body = form_page(site.choices, values, site.own)};
}

HttpResponse refuse(const HttpRequest& request, unsigned status, std::string error) {
    return refusal({.status = status, .error = std::move(error)}, request.accept);
}

// What was pasted into the form's page as the job that it begins with.
HttpResponse pasted_answer(const Site& site, const HttpRequest& request) {
    std::optional<RequestTarget> said = parse_target("/?" + request.body);
    if (!said) return refuse(request, 400, "what is posted is no form in UTF-8");
    HttpRequest read{.method = request.method, .target = request.target, .body = {}};
    std::erase_if(said->parameters, [&](const auto& each) {
        if (each.first == pasted_name) read.body = each.second;
        return each.first == pasted_name;
    });
    const RequestedJob job = requested_job(read, *said);
    return {.body = form_page(site.choices, parameters_of(job.text), site.own, job.notes)};
}

HttpResponse refuse_method(const HttpRequest& request) {
    constexpr const char* allowed = "GET, HEAD, POST";
    HttpResponse answer = refuse(request, 405, fmt::format("{} is not answered here: {}", request.method, allowed));
    answer.fields.emplace_back("Allow", allowed);
    return answer;
}

HttpResponse routed(const Site& site, const HttpRequest& request) {
    const std::optional<RequestTarget> target = parse_target(request.target);
    if (!target || !target->path.starts_with('/')) {
        return refuse(request, 400, "the address is no path with parameters in UTF-8");
    }
    const bool asks = request.method == "GET" || request.method == "HEAD", posts = request.method == "POST";
    if (!asks && !posts) return refuse_method(request);
    if (target->path == "/") return asks ? form_answer(site, *target) : pasted_answer(site, request);
    const auto* const route = std::ranges::find(routes, target->path, &ServedPath::path);
    if (route == routes.end()) {
        return refuse(request, 404,
                      "there is /, /ask, /simulate, /explain, /plan and /job.json, each with ?KEY=VALUE&...");
    }
    if (!is_utf8(request.body)) return refuse(request, 400, "the job is not in UTF-8");
    return route->of_job(site, request, *target);
}

std::string refusal_page(const RefusedRequest& refused, const std::string& json) {
    HtmlText html;
    html.put(fmt::format("<div id=\"refusal\" data-refusal=\"{}\">\n<p class=\"bad\">{}</p><ul>\n", xml_escaped(json),
                         xml_escaped(refused.error)));
    for (const Diagnostic& each : refused.diagnostics) {
        html.add("<li><code>{}</code>{}{}</li>", xml_escaped(each.key), each.key.empty() ? "" : ": ",
                 xml_escaped(each.message));
    }
    html.put("</ul>");
    if (!refused.text.empty()) html.put("<pre>" + xml_escaped(refused.text) + "</pre>");
    html.add("</div>\n<p><a href=\"/\" target=\"_top\">To the form</a></p>");
    return html_page({.title = "No result", .body = html.take(), .scripts = {}});
}

}  // namespace

std::string foreign(const HttpRequest& request, std::uint16_t port) {
    if (!is_this_server(request.host, port)) {
        return fmt::format("this server is localhost:{}, not \"{}\"", port, request.host);
    }
    constexpr std::string_view scheme = "http://";
    const bool own_origin = request.origin.starts_with(scheme) &&
                            is_this_server(std::string_view(request.origin).substr(scheme.size()), port);
    if (!request.origin.empty() && !own_origin) {
        return fmt::format("requests of pages from \"{}\" are not answered", request.origin);
    }
    const bool elsewhere = request.fetch_site == "cross-site" || request.fetch_site == "same-site";
    if (elsewhere && request.fetch_mode != "navigate") return "requests of pages from elsewhere are not answered";
    return {};
}

std::vector<std::pair<std::string, std::string>> security_fields(const HttpResponse& answer) {
    return {
        {"Content-Security-Policy",
         fmt::format("default-src 'none'; script-src{}; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; "
                     "form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
                     scripts_of(answer.body))},
        {"X-Content-Type-Options", "nosniff"},
        {"Cache-Control", "no-store"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"}};
}

AnswerWork work_of(std::string_view target) {
    const std::optional<RequestTarget> parsed = parse_target(target);
    const auto* const route = parsed ? std::ranges::find(routes, parsed->path, &ServedPath::path) : routes.end();
    return route == routes.end() ? AnswerWork::one_simulation : route->work;
}

HttpResponse answer(const Site& site, const HttpRequest& request) {
    if (request.host.empty()) return refuse(request, 400, "the request names no host, or several");
    if (std::string why = foreign(request, site.port); !why.empty()) {
        return refuse(request, request.origin.empty() && request.fetch_site.empty() ? 421 : 403, std::move(why));
    }
    try {
        return routed(site, request);
    } catch (const ConfigError& error) {
        return refusal({.error = "The job has mistakes", .diagnostics = error.diagnostics()}, request.accept);
    } catch (const RangeError& error) {
        return refuse(request, 422, error.what());
    } catch (const std::invalid_argument& error) {
        return refuse(request, 422, error.what());
    } catch (const NobodyWaits&) {
        return refuse(request, 503, "nobody waits for this any more");
    } catch (const TimeIsOver&) {
        return refuse(
            request, 503,
            fmt::format("it takes more than {} s: the command line has all the time it takes", longest_work.count()));
    } catch (const std::bad_alloc&) {
        return refuse(request, 503, "out of memory");
    } catch (const std::exception& error) {
        return refuse(request, 500,
                      fmt::format("internal error: {}. This is a fault of weft, not of your job", error.what()));
    }
}

HttpResponse refusal(const RefusedRequest& refused, std::string_view accept) {
    nlohmann::ordered_json json{{"error", refused.error}, {"diagnostics", diagnostics_json(refused.diagnostics)}};
    if (!refused.text.empty()) json["text"] = refused.text;
    // A client may send anything, and be told of it.
    const std::string text = json_text(json);
    if (accept.find("text/html") == std::string_view::npos) {
        return {.status = refused.status, .type = "application/json", .body = text};
    }
    return {.status = refused.status, .body = refusal_page(refused, text)};
}

}  // namespace weft
