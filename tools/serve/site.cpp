#include "tools/serve/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#include "sim/base/check.hpp"
#include "tools/serve/form_page.hpp"
#include "tools/serve/job_answers.hpp"
#include "tools/serve/local_requests.hpp"
#include "tools/serve/refusal.hpp"
#include "tools/serve/target.hpp"

namespace weft {
namespace {

struct ServedPath {
    std::string_view path;
    AnswerWork work;
    HttpAnswer (*of_job)(const HttpRequest&, const RequestTarget&);
};
constexpr std::array routes = std::to_array<ServedPath>({
    {"/simulate", AnswerWork::one_simulation, step_answer},
    {"/explain", AnswerWork::many_simulations, explanation_answer},
    {"/plan", AnswerWork::many_simulations, search_answer},
    {"/job.json", AnswerWork::one_simulation, job_file_answer},
});

HttpAnswer form_answer(const Site& site, const RequestTarget& target) {
    Parameters values = target.parameters;
    if (values.empty() && site.own) values = site.own->parameters;
    if (values.empty() && !site.choices.jobs.empty()) values = site.choices.jobs.front().parameters;
    return {.body = form_page(site.choices, values, site.own)};
}

HttpAnswer refuse(const HttpRequest& request, unsigned status, std::string error) {
    return refusal({.status = status, .error = std::move(error)}, request.accept);
}

HttpAnswer refuse_method(const HttpRequest& request, std::string_view allowed) {
    HttpAnswer answer = refuse(request, 405, fmt::format("{} is not answered here: {}", request.method, allowed));
    answer.fields.emplace_back("Allow", allowed);
    return answer;
}

HttpAnswer routed(const Site& site, const HttpRequest& request) {
    const std::optional<RequestTarget> target = parse_target(request.target);
    if (!target || !target->path.starts_with('/')) {
        return refuse(request, 400, "the address is no path with parameters in UTF-8");
    }
    const bool asks = request.method == "GET" || request.method == "HEAD", posts = request.method == "POST";
    if (target->path == "/") return asks ? form_answer(site, *target) : refuse_method(request, "GET, HEAD");
    const auto* const route = std::ranges::find(routes, target->path, &ServedPath::path);
    if (route == routes.end()) {
        return refuse(request, 404, "there is /, /simulate, /explain, /plan and /job.json, each with ?KEY=VALUE&...");
    }
    if (!asks && !posts) return refuse_method(request, "GET, HEAD, POST");
    if (posts && !target->parameters.empty()) {
        return refuse(request, 400, "a job is posted or in the address, not both");
    }
    if (!is_utf8(request.body)) return refuse(request, 400, "the job is not in UTF-8");
    return route->of_job(request, *target);
}

}  // namespace

AnswerWork work_of(std::string_view target) {
    const std::optional<RequestTarget> parsed = parse_target(target);
    const auto* const route = parsed ? std::ranges::find(routes, parsed->path, &ServedPath::path) : routes.end();
    return route == routes.end() ? AnswerWork::one_simulation : route->work;
}

HttpAnswer answer(const Site& site, const HttpRequest& request) {
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

}  // namespace weft
