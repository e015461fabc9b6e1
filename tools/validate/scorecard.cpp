#include "tools/validate/scorecard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/io/embedded.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {
namespace {

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

RowUse use_of(std::span<const ValidationSet> sets, const ValidatedRow& row) { return sets[row.set].rows[row.row].use; }

void add_checks(RowUse use, const ErrorBounds& bounds, const ErrorStatistics& errors, std::vector<BoundCheck>& checks) {
    const auto add = [&](const char* what, const std::optional<double>& bound, double actual) {
        if (bound) checks.push_back({use, what, *bound, actual});
    };
    add("mean", bounds.mean, errors.mean);
    add("median", bounds.median, errors.median);
    add("p90", bounds.percentile_90, errors.percentile_90);
    add("max", bounds.largest, errors.largest);
}

constexpr double same_scale = 4;  // ranks that differ by less are of one scale

// What of a step a quantity is about; empty: only of a part of it.
std::string_view answer_of(std::string_view quantity) {
    if (quantity.ends_with("_bytes")) return "memory";
    if (quantity == collective_quantity) return "call";
    const bool is_whole = quantity == "step_s" || quantity == "step.time_s" || quantity.ends_with("tokens_per_s") ||
                          quantity.ends_with("_tflops");
    return is_whole ? "step time" : "";
}

double error_of(const ValidatedRow& row) {
    const bool is_rate = row.quantity.ends_with("tokens_per_s") || row.quantity.ends_with("_tflops");
    return is_rate ? row.measured / row.predicted - 1.0 : row.error();
}

// A line of the record; its texts are views of it, so that reading all takes no time beside a simulation.
struct RecordedRuns {
    std::array<std::string_view, 4 + trait_names.size()> cells;  // set, answer, traits, ranks, errors

    std::string_view answer() const { return cells[1]; }
    std::string_view trait(std::size_t i) const { return cells[2 + i]; }
    double ranks() const { return to_number(cells[2 + trait_names.size()]).value(); }
};

std::vector<RecordedRuns> read_record(std::string_view record) {
    std::vector<RecordedRuns> runs;
    for (const TableLine& line : split_lines("errors.csv", record).lines) {
        if (line.text.starts_with("set,")) continue;
        std::string_view rest = line.text;
        RecordedRuns& read = runs.emplace_back();
        for (std::string_view& cell : read.cells) {
            cell = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(rest.size(), cell.size() + 1));
        }
    }
    return runs;
}

// A bit per trait shared, that of the scale last; 0 if the device is another.
unsigned shared_traits(const JobTraits& job, const RecordedRuns& runs) {
    if (job.values[0] != runs.trait(0)) return 0;
    unsigned shared = 0;
    for (std::size_t i = 0; i < trait_names.size(); ++i) shared = 2 * shared + (job.values[i] == runs.trait(i));
    return 2 * shared + (std::max(job.ranks / runs.ranks(), runs.ranks() / job.ranks) <= same_scale);
}

std::vector<std::string_view> traits_without(unsigned shared, std::span<const std::string_view> names) {
    std::vector<std::string_view> unlike;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if ((shared >> (names.size() - i) & 1U) == 0) unlike.push_back(names[i]);
    }
    if ((shared & 1U) == 0) unlike.push_back("scale");
    return unlike;
}

Evidence nearest(const JobTraits& job, std::string_view answer, const std::vector<RecordedRuns>& record) {
    unsigned most = 0;
    for (const RecordedRuns& runs : record) {
        if (runs.answer() == answer) most = std::max(most, shared_traits(job, runs));
    }
    if (most == 0) return {};
    Evidence evidence{.sets = {},
                      .unlike = traits_without(most, answer == "call" ? std::span(call_trait_names) : trait_names)};
    std::map<std::string_view, std::vector<double>> sets;
    std::vector<double> errors, ranks;
    for (const RecordedRuns& runs : record) {
        if (runs.answer() != answer || shared_traits(job, runs) != most) continue;
        ranks.push_back(runs.ranks());
        for (const std::string_view each : words(runs.cells.back())) {
            errors.push_back(to_number(each).value() / 100);
            sets[runs.cells.front()].push_back(errors.back());
        }
    }
    for (const auto& [set, own] : sets) {
        evidence.sets.emplace_back(set);
        if (error_statistics(own).are_large()) evidence.causes.push_back({std::string(set), cause_of_errors(set)});
    }
    evidence.errors = error_statistics(errors);
    evidence.least_ranks = std::ranges::min(ranks);
    evidence.most_ranks = std::ranges::max(ranks);
    return evidence;
}

std::string_view shipped_record() { return embedded::text_of(embedded::validation_tables(), "errors"); }

}  // namespace

JobTraits call_traits(const CollectiveRequest& request, Bytes message) {
    const SetLayout& layout = request.layout;
    const std::string_view size = message <= 64_KiB  ? "up to 64 KiB"
                                  : message <= 8_MiB ? "64 KiB to 8 MiB"
                                                     : "above 8 MiB";
    return {.values = {request.library->name, layout.ranks > layout.ranks_per_node ? "across nodes" : "in a node",
                       std::string(name(request.op)), std::string(size), request.machine.info().name,
                       layout.groups > 1 ? "several groups" : "one group", ""},
            .ranks = static_cast<double>(layout.members())};
}

double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

ErrorStatistics error_statistics(const std::vector<double>& errors) {
    if (errors.empty()) return {};
    auto sizes = list_of<double>(errors, [&](const double error) { return std::abs(error); });
    std::ranges::sort(sizes);
    return {.rows = errors.size(),
            .mean = mean(sizes),
            .median = quantile(sizes, 0.5),
            .percentile_90 = quantile(sizes, 0.9),
            .largest = sizes.back(),
            .bias = mean(errors)};
}

const ErrorStatistics& ErrorsByUse::of(RowUse use) const {
    return use == RowUse::predict ? predict : use == RowUse::fit ? fit : disturbed;
}

bool SetScore::passed() const { return std::ranges::all_of(bounds, &BoundCheck::holds); }

bool Scorecard::passed() const { return std::ranges::all_of(sets, &SetScore::passed); }

Scorecard make_scorecard(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows, Coverage coverage) {
    using Errors = std::array<std::vector<double>, 3>;  // by RowUse
    std::vector<Errors> of_set(sets.size());
    Errors all;
    for (const ValidatedRow& row : rows) {
        const auto use = static_cast<std::size_t>(use_of(sets, row));
        of_set[row.set][use].push_back(row.error());
        all[use].push_back(row.error());
    }
    const auto statistics = [](const Errors& errors) {
        return ErrorsByUse{error_statistics(errors[0]), error_statistics(errors[1]), error_statistics(errors[2])};
    };
    Scorecard card{statistics(all), {}};
    for (std::size_t s = 0; s < sets.size(); ++s) {
        SetScore score{statistics(of_set[s]), {}};
        if (coverage == Coverage::whole) {
            add_checks(RowUse::predict, sets[s].bounds, score.predict, score.bounds);
            add_checks(RowUse::fit, sets[s].residual_bounds, score.fit, score.bounds);
        }
        card.sets.push_back(std::move(score));
    }
    return card;
}

std::vector<std::size_t> worst_rows(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows,
                                    std::size_t count) {
    auto places = numbers_below<std::size_t>(rows.size());
    std::erase_if(places, [&](std::size_t i) { return use_of(sets, rows[i]) != RowUse::predict; });
    std::ranges::stable_sort(places, std::ranges::greater{}, [&](std::size_t i) { return std::abs(rows[i].error()); });
    places.resize(std::min(places.size(), count));
    return places;
}

Evidence evidence_of(const JobTraits& call) { return nearest(call, "call", read_record(shipped_record())); }

Validity validity_of(const Plan& plan) { return validity_of(job_traits(plan), shipped_record()); }

Validity validity_of(JobTraits job, std::string_view record) {
    const std::vector<RecordedRuns> runs = read_record(record);
    Evidence step_time = nearest(job, "step time", runs), memory = nearest(job, "memory", runs);
    return {.job = std::move(job), .step_time = std::move(step_time), .memory = std::move(memory)};
}

std::string error_record(std::span<const ValidationSet> sets, std::span<const ValidatedRow> rows) {
    std::map<std::string, std::string> lines;  // errors by all that comes before them
    for (const ValidatedRow& row : rows) {
        const std::string_view answer = answer_of(row.quantity);
        const RowUse use = use_of(sets, row);
        const bool counts = use == RowUse::predict || (use == RowUse::fit && answer == "call");
        if (!row.job || answer.empty() || !counts) continue;
        std::string& errors = lines[fmt::format("{},{},{},{}", sets[row.set].name, answer,
                                                fmt::join(row.job->values, ","), row.job->ranks)];
        errors += fmt::format("{}{:.1f}", errors.empty() ? "" : " ", 100 * error_of(row));
    }
    std::string text = fmt::format(
        "# Written by weft validate --record, do not edit: errors in percent, by kind of job.\n"
        "set,answer,{},ranks,errors\n",
        fmt::join(trait_names, ","));
    for (const auto& [kind, errors] : lines) text += fmt::format("{},{}\n", kind, errors);
    return text;
}

}  // namespace weft
