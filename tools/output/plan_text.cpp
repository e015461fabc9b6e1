#include "tools/output/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "sim/io/units.hpp"
#include "tools/output/columns.hpp"
#include "tools/output/report_text.hpp"

namespace weft {
namespace {

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// The knobs that the candidates shown do not all have at the same value, and the others.
struct KnobColumns {
    std::vector<std::size_t> varied, same;
};

KnobColumns columns_of(const PlanResult& result, const std::vector<std::size_t>& shown) {
    KnobColumns columns;
    for (std::size_t k = 0; k < result.space.knobs().size(); ++k) {
        const auto value = [&](std::size_t i) { return result.candidates[i].candidate.values[k]; };
        const bool varies = std::ranges::any_of(shown, [&](std::size_t i) { return value(i) != value(shown.front()); });
        (varies ? columns.varied : columns.same).push_back(k);
    }
    return columns;
}

std::string knob_text(const PlanResult& result, std::size_t candidate, std::size_t knob) {
    return result.space.knobs()[knob].text(result.candidates[candidate].candidate.values[knob]);
}

// What the knobs of `which` stand at, where that is not as they are before they are chosen.
std::string settings(const PlanResult& result, std::size_t candidate, const std::vector<std::size_t>& which) {
    std::vector<std::string> texts;
    for (const std::size_t k : which) {
        const Knob& knob = result.space.knobs()[k];
        if (result.candidates[candidate].candidate.values[k] == knob.neutral) continue;
        texts.push_back(fmt::format("{} {}", last_part(knob.key), knob_text(result, candidate, k)));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string counts(const PlanResult& result) {
    const std::size_t refused = result.count(Verdict::refused), full = result.count(Verdict::does_not_fit),
                      fits = result.count(Verdict::fits);
    TextTable table({"<candidates", grouped(double(result.considered)), "<"});
    const auto add = [&](const char* what, std::size_t count, const std::string& note) {
        table.add({what, grouped(double(count)), note});
    };
    add("  refused", refused, refused > 0 ? "for the reasons below" : "");
    std::string miss;
    if (full > 0) {
        miss = fmt::format("more than the {} of a device; the nearest by {}", to_text(result.capacity),
                           to_text(result.nearest_miss().memory - result.capacity));
    }
    add("  do not fit", full, miss);
    const std::size_t timed = result.timed();
    add("  fit", fits, fits > 0 && timed == fits ? "timed in closed form" : "");
    if (timed < fits) {
        add("    ruled out", fits - timed,
            "by a lower bound of their time: work, calls of layers, pipeline bubble, optimizer");
        add("    timed", timed, "in closed form");
    }
    add("    simulated", result.simulated.size(), fits > 0 ? "the fastest of these in closed form" : "");
    return table.text();
}

std::string refusals(const PlanResult& result) {
    if (result.reasons.empty()) return "";
    constexpr std::size_t most = 12;
    ResultTable table = refusals_table(result);
    table.rows.resize(std::min(most, table.rows.size()));
    std::string text = '\n' + table_text(table);
    if (result.reasons.size() > most) {
        std::size_t others = 0;
        for (std::size_t i = most; i < result.reasons.size(); ++i) others += result.reasons[i].candidates;
        text += fmt::format("{} for {} other reasons\n", grouped(double(others)), result.reasons.size() - most);
    }
    return text;
}

// One line per simulated candidate: what it is, then its step.
TextTable candidate_table(const PlanResult& result, const KnobColumns& columns) {
    std::vector<std::string> headings{""};
    for (const std::string& assignment : result.base_assignments.front()) {
        headings.push_back(last_part(assignment.substr(0, assignment.find('='))));
    }
    for (const std::size_t k : columns.varied) headings.push_back(last_part(result.space.knobs()[k].key));
    for (const char* each : {"step time", "compute", "exposed", "bubble", "imbalance", "memory", "MFU", "screened"}) {
        headings.emplace_back(each);
    }
    return TextTable(std::move(headings));
}

void add_candidate(TextTable& table, const PlanResult& result, const KnobColumns& columns, std::size_t place) {
    const SimulatedCandidate& one = result.simulated[place];
    const ScreenedCandidate& screened = result.candidates[one.number];
    std::vector<std::string> cells{fmt::to_string(place + 1)};
    for (const std::string& assignment : result.base_assignments[screened.candidate.base]) {
        cells.push_back(assignment.substr(assignment.find('=') + 1));
    }
    for (const std::size_t k : columns.varied) cells.push_back(knob_text(result, one.number, k));
    for (const Seconds part : {one.time, one.parts.compute + one.parts.optimizer, one.parts.exposed, one.parts.bubble,
                               one.parts.imbalance}) {
        cells.push_back(to_text(part));
    }
    cells.push_back(to_text(screened.memory));
    cells.push_back(percent(one.mfu));
    cells.push_back(fmt::format("{:+.1f} %", 100 * (screened.estimate.time / one.time - 1)));
    table.add(std::move(cells));
}

std::string slower_by(const PlanResult& result, std::size_t place) {
    const SimulatedCandidate &best = result.simulated.front(), &other = result.simulated[place];
    const Seconds gap = other.time - best.time;
    std::string text = fmt::format("{} is {} slower than 1", place + 1, to_text(gap));
    std::vector<std::string> more, less;
    for (const Difference& difference : differences(other.parts, best.parts)) {
        // A hundredth of a step's difference is noise between layouts.
        const Seconds size{std::abs(difference.more.value)};
        if (size < gap * 0.05) continue;
        (difference.more.value > 0 ? more : less).push_back(fmt::format("{} {}", to_text(size), difference.part));
    }
    if (!more.empty()) text += fmt::format(": {} more", fmt::join(more, " and "));
    if (!less.empty()) text += fmt::format(", {} less", fmt::join(less, " and "));
    return text + '\n';
}

std::string best(const PlanResult& result, std::size_t top) {
    const auto shown = list_of<std::size_t>(result.simulated, &SimulatedCandidate::number);
    const KnobColumns columns = columns_of(result, shown);
    std::string text;
    const std::string common = settings(result, shown.front(), columns.same);
    if (!common.empty()) text += fmt::format("\nall simulated: {}\n", common);
    TextTable table = candidate_table(result, columns);
    const std::size_t lines = std::min(top, result.simulated.size());
    for (std::size_t place = 0; place < lines; ++place) add_candidate(table, result, columns, place);
    text += '\n' + table.text() + '\n';
    for (std::size_t place = 1; place < lines; ++place) text += slower_by(result, place);
    return text;
}

// Layouts that need less memory the slower they are, by screening: what is given up for what.
std::string pareto(const PlanResult& result) {
    if (result.screened_pareto.size() < 2) return "";
    const KnobColumns columns = columns_of(result, result.screened_pareto);
    std::vector<std::string> headings{"less memory"};
    for (const std::size_t k : columns.varied) headings.push_back(last_part(result.space.knobs()[k].key));
    headings.emplace_back("screened step");
    TextTable table(std::move(headings));
    constexpr std::size_t most = 8;
    const std::size_t count = result.screened_pareto.size();
    std::set<std::size_t> lines;
    for (std::size_t i = 0; i < std::min(most, count); ++i) lines.insert(i * (count - 1) / (std::min(most, count) - 1));
    for (const std::size_t line : lines) {
        const std::size_t number = result.screened_pareto[line];
        const ScreenedCandidate& one = result.candidates[number];
        std::vector<std::string> cells{to_text(one.memory)};
        for (const std::size_t k : columns.varied) cells.push_back(knob_text(result, number, k));
        cells.push_back(to_text(one.estimate.time));
        table.add(std::move(cells));
    }
    std::string text = '\n' + table.text();
    if (count > most) text += fmt::format("{} of {} layouts that none beats in both time and memory\n", most, count);
    return text;
}

std::string quality(const PlanResult& result) {
    const ScreeningQuality& own = result.quality;
    std::string text = fmt::format(
        "\nscreening against simulation: rank correlation {:.2f}, error {} on average, {} at most; the best was number "
        "{} by screening\n",
        own.rank_correlation, percent(own.mean_error), percent(own.largest_error), own.best + 1);
    if (own.close > 0) {
        text += fmt::format("{} more are as close to the best by screening as it may err (--simulate {} for all)\n",
                            grouped(double(own.close)), result.simulated.size() + own.close);
    }
    return text;
}

std::string nothing_possible(const PlanResult& result) {
    const auto [nearest, errors] = result.nearest_refusal();
    std::string text = fmt::format("\nno candidate is possible; nearest to it comes {}, but for\n",
                                   fmt::join(result.assignments(nearest), " "));
    for (const JobError& error : errors)
        text += fmt::format("  {}: {}{}\n", error.key, error.message, error.remedy.empty() ? "" : "; " + error.remedy);
    if (!result.proposals.empty()) text += fmt::format("would do: {}\n", fmt::join(result.proposals, ", or "));
    return text;
}

// And what would: settings that were not open to the search, or else more nodes.
std::string nothing_fits(const PlanResult& result) {
    const ScreenedCandidate& nearest = result.nearest_miss();
    const Study study = result.space.study(nearest.candidate);
    std::vector<MemoryAdvice> advice = memory_advice(study);
    if (const std::optional<MemoryAdvice> nodes = more_nodes(study)) advice.push_back(*nodes);
    return fmt::format("\nnothing fits; the nearest needs {} of {}, {} too much: {}\n{}", to_text(nearest.memory),
                       to_text(result.capacity), to_text(nearest.memory - result.capacity),
                       fmt::join(result.assignments(nearest.candidate), " "), advice_text(make_plan(study), advice));
}

}  // namespace

ResultTable refusals_table(const PlanResult& result) {
    using Row = RefusalReason;
    return table_of<Row>(result.reasons, {{"", "refused", as<Count>(&Row::candidates)},
                                          {"key", "<because of", &Row::key},
                                          {"reason", "<for example", &Row::message},
                                          {"candidates", {}, &Row::candidates}});
}

std::string settings_text(const PlanResult& result, std::size_t candidate) {
    return settings(result, candidate, numbers_below<std::size_t>(result.space.knobs().size()));
}

std::string plan_heading(const PlanResult& result) {
    const Study& base = result.space.bases().front();
    const MachineInfo& machine = base.machine.info();
    std::string text =
        fmt::format("{} on {}: {} ranks on {} nodes, {}, {} sequences of {} tokens", model_text(base.job.model),
                    machine.name, result.space.accelerators(), base.job.nodes, base.job.framework->name,
                    base.job.batch.global, base.job.batch.sequence);
    for (const std::string& remark : base.job.assumed) text += "\nnote: " + remark;
    return text;
}

std::string plan_text(const PlanResult& result, std::size_t top) {
    std::string text = plan_heading(result) + "\n\n" + counts(result) + refusals(result);
    if (result.all_refused()) return text + nothing_possible(result);
    if (result.simulated.empty()) return text + nothing_fits(result);
    return text + best(result, top) + pareto(result) + quality(result);
}

}  // namespace weft
