#include "tools/serve/answers.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <optional>

#include "tools/explain/job_explanation.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/report_json.hpp"
#include "tools/output/svg_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/pages.hpp"
#include "tools/parallel.hpp"
#include "tools/plan/layout_search.hpp"
#include "tools/plan/request.hpp"
#include "tools/refusals.hpp"
#include "tools/serve/requested_job.hpp"

namespace weft {
namespace {

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

const SimulationOptions options_of_pages{.folding = Folding::automatic, .recording = Recording::spans_and_links};

// A job that a page can be made of.
struct ServableJob {
    std::string text;
    Study study;
    JobInput input;
};

ServableJob servable(std::string text, const char* command, Purpose purpose, void (*check_size)(const Job&)) {
    const Document document = Document::parse(requested_name, text);
    Study study = read_study(document.copy(), purpose);
    check_size(study.job);
    JobInput input{.command = fmt::format("weft {} {}", command, requested_name), .text = document.text()};
    return {std::move(text), std::move(study), std::move(input)};
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

std::function<void(std::size_t, std::size_t)> while_somebody_waits(const HttpRequest& request) {
    return [left = request.left, end = std::chrono::steady_clock::now() + longest_work](std::size_t, std::size_t) {
        if (left.stop_requested()) throw NobodyWaits{};
        if (std::chrono::steady_clock::now() > end) throw TimeIsOver{};
    };
}

}  // namespace

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

HttpResponse step_answer(const HttpRequest& request, const RequestTarget& target) {
    const ServableJob job = servable(requested_job(request, target), "simulate", Purpose::simulation, check_page_size);
    if (auto refused = refused_for_memory(job, make_plan(job.study), request)) return *refused;
    const ExplainedStep step = simulate_to_explain(job.study, options_of_pages, prepare(job.study));
    return {.body = step_page(job.study, step, make_report(step.run), job.input)};
}

HttpResponse explanation_answer(const HttpRequest& request, const RequestTarget& target) {
    const ServableJob job = servable(requested_job(request, target), "explain", Purpose::simulation, check_page_size);
    if (auto refused = refused_for_memory(job, make_plan(job.study), request)) return *refused;
    const JobExplanation explained = explain_job(
        job.study, {.source = source_of(job), .overrides = {}},
        {.simulation = options_of_pages, .threads = all_threads(), .progress = while_somebody_waits(request)});
    return {.body = explained_page(explained, job.input, fmt::format("weft simulate {}", requested_name))};
}

HttpResponse search_answer(const HttpRequest& request, const RequestTarget& target) {
    const ServableJob job = servable(requested_job(request, target), "plan", Purpose::equations, check_search_size);
    const PlanRequest asked{.job = source_of(job), .overrides = {}, .among = {}};
    PlanSpace space = read_space(asked);
    const PlanResult result = search_layouts(std::move(space.space), std::move(space.base_assignments),
                                             {.simulations = usual_simulations,
                                              .most_simulations = most_usual_simulations,
                                              .threads = all_threads(),
                                              .progress = while_somebody_waits(request)});
    return {.body =
                search_page(asked, result,
                            {.plan = job.input.command, .simulate = fmt::format("weft simulate {}", requested_name)})};
}

HttpResponse job_file_answer(const HttpRequest& request, const RequestTarget& target) {
    return {.type = "application/json",
            .body = requested_job(request, target),
            .fields = {{"Content-Disposition", fmt::format("attachment; filename=\"{}\"", requested_name)}}};
}

}  // namespace weft
