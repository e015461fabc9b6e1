#include "tools/endurance/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/units.hpp"
#include "tools/validate/scorecard.hpp"

namespace weft {
namespace {

using Arguments = po::variables_map;

std::optional<double> above_0(std::string_view text) {
    const auto value = parse_as<double>(text);
    return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

std::optional<Seconds> read_time(std::string_view text) {
    const std::string_view unit = after_number(text);
    if (unit != "m" && unit != " m") return parse_duration(text);
    const std::optional<double> minutes = above_0(text.substr(0, text.size() - unit.size()));
    return minutes ? std::optional(Seconds{*minutes * 60}) : std::nullopt;
}

std::optional<Seconds> duration_option(const Arguments& arguments, const char* option) {
    return read_option(arguments, option, "a time such as 10m (s, m, h, d)", read_time);
}

// A mean time between events, or "never".
std::optional<Seconds> mean_time_option(const Arguments& arguments, const char* option) {
    return read_option(arguments, option, "a time such as 20d, or never", [](const std::string& text) {
        const std::optional<Seconds> time = text == "never" ? endless : read_time(text);
        return time && *time > Seconds{} ? time : std::nullopt;
    });
}

std::optional<double> share_option(const Arguments& arguments, const char* option) {
    return read_option(arguments, option, "a share above 0 and up to 1", [](const std::string& text) {
        const std::optional<double> share = above_0(text);
        return share && *share <= 1 ? share : std::nullopt;
    });
}

std::optional<std::uint64_t> whole_decimal(const Arguments& arguments, const char* option) {
    const std::optional<double> value = decimal_option(arguments, option, "100K");
    if (!value) return std::nullopt;
    if (*value == std::trunc(*value) && *value < 1e15) return static_cast<std::uint64_t>(*value);
    throw OptionError("--{}: expected a whole number below 10^15, got {}", option, *value);
}

void read_interval(const Arguments& arguments, RunTerms& terms) {
    const std::optional<double> steps = above_0(option_text(arguments, "checkpoint-every"));
    if (steps && *steps == std::trunc(*steps) && *steps < 1e15) {
        terms.between = static_cast<std::uint64_t>(*steps);
        return;
    }
    terms.interval =
        read_option(arguments, "checkpoint-every", "a time such as 30m or a number of steps", [](const auto& said) {
            const std::optional<Seconds> time = read_time(said);
            return time && *time > Seconds{} ? time : std::nullopt;
        });
}

constexpr std::size_t most_bins = 40;

Spread spread_of(const std::vector<double>& values, const std::vector<double>& ascending) {
    Spread result;
    // From the least on, so that the mean of equal values is that value.
    for (const double value : values) result.mean += value - ascending.front();
    result.mean = ascending.front() + result.mean / static_cast<double>(values.size());
    result.p5 = quantile(ascending, 0.05);
    result.p50 = quantile(ascending, 0.5);
    result.p95 = quantile(ascending, 0.95);
    return result;
}

Distribution distribution_of(const std::vector<double>& ascending) {
    Distribution result{.least = ascending.front(), .greatest = ascending.back(), .counts = {}};
    const double wide = result.greatest - result.least;
    result.counts.resize(result.is_narrow() ? 1 : most_bins);
    for (const double value : ascending) {
        const double place = result.is_narrow() ? 0 : (value - result.least) / wide * double(most_bins);
        ++result.counts[std::min(static_cast<std::size_t>(place), result.counts.size() - 1)];
    }
    return result;
}

}  // namespace

RunTerms run_terms(const Arguments& arguments) {
    RunTerms terms{.tokens = decimal_option(arguments, "tokens", "15T"), .steps = whole_decimal(arguments, "steps")};
    if (const std::optional<double> days = decimal_option(arguments, "days", "54")) terms.time = Seconds{*days * 86400};
    const int lengths = int{terms.tokens.has_value()} + int{terms.steps.has_value()} + int{terms.time.has_value()};
    if (lengths != 1) throw OptionError("how long is the run? one of --tokens, --steps and --days");
    terms.saving = arguments["asynchronous"].as<bool>() ? Saving::asynchronous : Saving::synchronous;
    read_interval(arguments, terms);
    terms.spares = count_option(arguments, {.name = "spares", .least = 0});
    terms.detection = duration_option(arguments, "detection");
    terms.stop = duration_option(arguments, "stop");
    terms.launch = duration_option(arguments, "launch");
    terms.repair = duration_option(arguments, "repair");
    terms.hardware = mean_time_option(arguments, "hardware-every");
    terms.software = mean_time_option(arguments, "software-every");
    terms.planned = mean_time_option(arguments, "planned-every");
    terms.storage_share = share_option(arguments, "storage-share");
    return terms;
}

std::optional<BatchRamp> batch_ramp(const Arguments& arguments) {
    const auto read = [](const std::string& text) -> std::optional<BatchRamp> {
        const std::vector<std::string_view> parts = parts_of(text, ',');
        if (parts.size() != 3) return std::nullopt;
        const auto start = parse_as<std::uint32_t>(parts[0]), increment = parse_as<std::uint32_t>(parts[1]);
        const auto samples = parse_as<std::uint64_t>(parts[2]);
        if (!start || !increment || !samples) return std::nullopt;
        return BatchRamp{*start, *increment, *samples};
    };
    return read_option(arguments, "ramp", "START,INCREMENT,SAMPLES such as 16,8,1000000", read);
}

std::optional<double> price(const Arguments& arguments) { return decimal_option(arguments, "price", "2.5"); }

void check_work(const LongRun& run, std::uint64_t samples) {
    constexpr double most_of_one = 1e7, most = 1e9;  // of some 300 ns
    const double one = pieces_of(run), all = one * static_cast<double>(samples);
    if (one <= most_of_one && all <= most) return;
    throw RangeError(
        "a run has about {:.2g} interruptions and checkpoints that wait for one another, {} runs have "
        "{:.2g}: up to {:.0e} of one and {:.0e} of all are played. Ask for {}",
        one, samples, all, most_of_one, most,
        one > most_of_one ? "a shorter run" : fmt::format("--samples {:.0f}", std::floor(most / one)));
}

const RunQuantity* RunResult::find(std::string_view key) const {
    return first_of(quantities, [&](const RunQuantity& each) { return each.key == key; });
}

const RunQuantity& RunResult::quantity(std::string_view key) const {
    const RunQuantity* const found = find(key);
    WEFT_CHECK(found != nullptr, "a run has this quantity");
    return *found;
}

RunResult run_result(RunPlan plan, const std::vector<RunSample>& samples, std::uint64_t seed,
                     std::optional<double> price, std::uint32_t ranks) {
    RunResult result{.plan = std::move(plan), .quantities = {}, .samples = samples.size(), .seed = seed};
    const RunPlan& run = result.plan;
    const auto add = [&](std::string_view key, std::string_view label, RunUnit unit, auto measure) {
        const auto values = list_of<double>(samples, [&](const RunSample& sample) { return measure(sample); });
        std::vector<double> ascending = values;
        std::ranges::sort(ascending);
        result.quantities.push_back({key, label, unit, spread_of(values, ascending), distribution_of(ascending)});
    };
    using enum RunUnit;
    add("time_s", "run time", time, [](const RunSample& s) { return s.wall.value; });
    add("goodput", "goodput", share, [](const RunSample& s) { return s.goodput(); });
    add("steps", "steps", count, [](const RunSample& s) { return static_cast<double>(s.steps); });
    add("tokens", "tokens", tokens, [&](const RunSample& s) { return run.tokens(s.steps); });
    add("lost_work_s", "lost work", time, [](const RunSample& s) { return s.lost().value; });
    add("checkpoints_s", "checkpoints", time, [](const RunSample& s) { return s.stalled.value; });
    add("restarting_s", "restarting", time, [](const RunSample& s) { return s.down.value; });
    add("waiting_s", "waiting for nodes", time, [](const RunSample& s) { return s.waiting.value; });
    add("restarts", "interruptions", count, [](const RunSample& s) { return s.interruptions(); });
    add("hardware", "  hardware", count, [](const RunSample& s) { return s.hardware; });
    add("software", "  software", count, [](const RunSample& s) { return s.software; });
    add("planned", "  planned", count, [](const RunSample& s) { return s.planned; });
    if (run.power) {
        add("energy_j", "energy", energy, [&](const RunSample& s) { return run.energy(s).value; });
        add("joules_per_token", "  per token", per_token,
            [&](const RunSample& s) { return run.energy(s).value / std::max(run.tokens(s.steps), 1.0); });
    }
    if (price) {
        add("cost", "cost", cost, [&](const RunSample& s) { return *price * ranks * s.wall.value / 3600; });
    }
    return result;
}

RunResult played_run(RunPlan plan, std::optional<double> price, std::uint32_t ranks) {
    constexpr std::uint64_t count = 200, seed = 1;
    check_work(plan.run, count);
    const auto samples = list_of<RunSample>(numbers_below<std::uint64_t>(count),
                                            [&](std::uint64_t i) { return sample_run(plan.run, seed, i); });
    return run_result(std::move(plan), samples, seed, price, ranks);
}

}  // namespace weft
