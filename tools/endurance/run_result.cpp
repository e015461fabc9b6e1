#include "tools/endurance/run_result.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "tools/validate/statistics.hpp"

namespace weft {
namespace {

constexpr std::size_t most_bins = 40;

Spread spread_of(const std::vector<double>& values, const std::vector<double>& ascending) {
    Spread result;
    for (const double value : values) result.mean += value / static_cast<double>(values.size());
    result.p5 = quantile(ascending, 0.05);
    result.p50 = quantile(ascending, 0.5);
    result.p95 = quantile(ascending, 0.95);
    return result;
}

Distribution distribution_of(const std::vector<double>& ascending) {
    Distribution result{.least = ascending.front(), .greatest = ascending.back(), .counts = {}};
    const double wide = result.greatest - result.least;
    result.counts.resize(wide > 0 ? most_bins : 1);
    for (const double value : ascending) {
        const double place = wide > 0 ? (value - result.least) / wide * double(most_bins) : 0;
        ++result.counts[std::min(static_cast<std::size_t>(place), result.counts.size() - 1)];
    }
    return result;
}

}  // namespace

const RunQuantity& RunResult::quantity(std::string_view key) const {
    const auto found = std::ranges::find(quantities, key, &RunQuantity::key);
    WEFT_CHECK(found != quantities.end(), "a run has this quantity");
    return *found;
}

RunResult run_result(RunPlan plan, const std::vector<RunSample>& samples, std::uint64_t seed,
                     std::optional<double> price, std::uint32_t ranks) {
    RunResult result{.plan = std::move(plan), .quantities = {}, .samples = samples.size(), .seed = seed};
    const RunPlan& run = result.plan;
    const auto add = [&](std::string_view key, std::string_view label, RunUnit unit, auto measure) {
        std::vector<double> values;
        for (const RunSample& sample : samples) values.push_back(measure(sample));
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

}  // namespace weft
