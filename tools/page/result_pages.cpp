#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/output/figures.hpp"
#include "tools/output/plan_text.hpp"
#include "tools/page/html.hpp"
#include "tools/page/pages.hpp"
#include "tools/page/result_data.hpp"
#include "workloads/search/plan_result.hpp"

namespace weft {
namespace {

double number_or_infinity(const ResultTable& table, std::size_t row, std::string_view column) {
    const auto at = find_column(table, column);
    const std::optional<double> number = at ? number_of(table.rows[row][*at]) : std::nullopt;
    return number.value_or(std::numeric_limits<double>::infinity());
}

std::string note_of(const ResultTable& table, std::size_t row, std::string_view column) {
    const auto at = find_column(table, column);
    const auto* const text = at ? std::get_if<std::string>(&table.rows[row][*at]) : nullptr;
    return text ? *text : "";
}

// Those that have a time: the simulated ones by it, then the others by the screened one.
std::vector<std::size_t> best_candidates(const ResultTable& table) {
    std::vector<std::tuple<double, double, std::size_t>> order;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const double simulated = number_or_infinity(table, row, "step_time_s"),
                     screened = number_or_infinity(table, row, "screened_time_s");
        if (std::min(simulated, screened) < std::numeric_limits<double>::infinity()) {
            order.emplace_back(simulated, screened, row);
        }
    }
    std::ranges::sort(order);
    if (order.size() > most_kept_candidates) order.resize(most_kept_candidates);
    return list_of<std::size_t>(order, [](const auto& each) { return std::get<2>(each); });
}

// "1,204 refused, 300 does not fit, 96 fits", in the order of first occurrence.
std::string verdicts(const ResultTable& table) {
    std::vector<std::pair<std::string, std::size_t>> counts;
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        const std::string verdict = note_of(table, row, "verdict");
        if (verdict.empty()) continue;
        auto known = std::ranges::find(counts, verdict, &std::pair<std::string, std::size_t>::first);
        if (known == counts.end()) known = counts.insert(known, {verdict, 0});
        ++known->second;
    }
    return comma_list(counts, [](const auto& each) { return grouped(double(each.second)) + ' ' + each.first; });
}

// The rows for the script: those kept, and of each that has them the texts to copy.
std::string page_data(const ResultTable& table, const std::vector<std::size_t>& kept, const PlanPageFacts& facts) {
    Json json = result_json(table);
    json["simulate"] = facts.simulate;
    json["screening"] = {{"mean_error", facts.mean_error}, {"largest_error", facts.largest_error}};
    json["files"] = Json::object();
    for (std::size_t row = 0; row < kept.size(); ++row) {
        const auto files = facts.files.find(kept[row]);
        if (files == facts.files.end()) continue;
        json["files"][fmt::to_string(row)] = {
            {"job", files->second.job}, {"format", files->second.format}, {"launch", files->second.launch}};
    }
    return data_text(json);
}

}  // namespace

std::string sweep_page(const ResultPageText& text, const ResultTable& table) {
    const std::size_t rows = table.rows.size(), failed = rows - rows_with_result(table);
    const std::string rows_name = fmt::format("{}s", text.row);
    std::string body =
        result_head(text, table,
                    {.name = rows_name,
                     .rows = rows,
                     .note = failed == 0 ? "all with a result" : grouped(double(failed)) + " without a result"});
    body +=
        "<section><h2>Over one key</h2><div id=\"metric\"></div><div id=\"lines\"></div></section>\n"
        "<noscript><p>Charts and table need JavaScript.</p></noscript>\n";
    if (std::ranges::count(table.columns, ColumnKind::key, &Column::kind) > 1) {
        body += "<section><h2>Over two keys</h2><div id=\"map\"></div></section>\n";
    }
    body += text.further + fmt::format("<section><h2>Every {}</h2><div id=\"rows\"></div></section>\n", text.row);
    if (failed > 0) {
        body += "<section><h2>Points without a result</h2><div id=\"reasons\"></div></section>\n";
    }
    return html_page({.title = text.title,
                      .body = std::move(body),
                      .data = data_text(result_json(table)),
                      .scripts = {"format", "theme", "chart", "heat_map", "result_table", "sweep"},
                      .charts = ChartLibrary::embedded});
}

std::string plan_page(const ResultPageText& text, const ResultTable& table, const PlanPageFacts& facts) {
    const std::vector<std::size_t> kept = best_candidates(table);
    ResultTable best{.columns = table.columns, .rows = {}};
    for (const std::size_t row : kept) best.rows.push_back(table.rows[row]);
    ResultTable simulated{.columns = table.columns, .rows = {}};  // nothing else is best at anything
    for (const std::size_t row : kept) {
        if (number_or_infinity(table, row, "step_time_s") < std::numeric_limits<double>::infinity()) {
            simulated.rows.push_back(table.rows[row]);
        }
    }
    std::string body =
        result_head(text, simulated, {.name = "candidates", .rows = table.rows.size(), .note = verdicts(table)});
    body +=
        "<section><h2>Step time and memory</h2><p>A candidate on the front is not beaten by another simulated one in "
        "both. Down and to the left is better.</p><div id=\"front\"></div></section>\n"
        "<noscript><p>Chart and table need JavaScript.</p></noscript>\n<section><h2>Candidates</h2>\n";
    if (best.rows.size() < table.rows.size()) {
        body += fmt::format("<p>The {} with the shortest steps, of {}.</p>", grouped(double(best.rows.size())),
                            grouped(double(table.rows.size())));
    }
    body += "<div id=\"rows\"></div></section>\n";
    if (!facts.reasons.rows.empty()) {
        body += "<section><h2>Refused</h2>" +
                html_table("Reasons that differ in numbers alone are one.", facts.reasons) + "</section>\n";
    }
    return html_page({.title = text.title,
                      .body = std::move(body),
                      .data = page_data(best, kept, facts),
                      .scripts = {"format", "theme", "chart", "result_table", "copied_texts", "plan"},
                      .charts = ChartLibrary::embedded});
}

std::vector<std::string> simulated_layout(const PlanResult& result, std::size_t place) {
    return result.assignments(result.candidates[result.simulated[place].number].candidate);
}

// Files of the simulated ones: those of thousands of others would take longer than the search.
static PlanPageFacts page_facts(const PlanRequest& request, const PlanResult& result, const SearchCommands& commands) {
    PlanPageFacts facts{.simulate = commands.simulate, .files = {}, .reasons = refusals_table(result)};
    if (!result.simulated.empty()) {
        facts.mean_error = result.quality.mean_error;
        facts.largest_error = result.quality.largest_error;
    }
    for (std::size_t place = 0; place < result.simulated.size(); ++place) {
        facts.files[result.simulated[place].number] =
            launch_files(request, simulated_layout(result, place), commands.launch);
    }
    return facts;
}

std::string search_page(const PlanRequest& request, const PlanResult& result, const SearchCommands& commands) {
    const Study& base = result.space.bases().front();
    const std::string job = request.job.path.empty() ? std::string() : request.job.path.string() + ": ";
    const ResultPageText text{
        .title = fmt::format("Layouts of {} on {}", model_text(base.job.model), base.machine.info().name),
        .command =
            commands.plan + fmt::format("{} --simulate {}", result.searched == Searched::modelled ? " --modelled" : "",
                                        result.simulated.size()),
        .summary = job + plan_heading(result)};
    return plan_page(text, plan_rows(result), page_facts(request, result, commands));
}

}  // namespace weft
