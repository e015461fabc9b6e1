#include "tools/endurance/run_result.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "tools/validate/statistics.hpp"

namespace weft {
namespace {

template <class Measure>
Spread spread(const std::vector<RunSample>& samples, Measure measure) {
    std::vector<double> values;
    Spread result;
    for (const RunSample& sample : samples) {
        values.push_back(measure(sample));
        result.mean += values.back() / static_cast<double>(samples.size());
    }
    std::ranges::sort(values);
    result.p5 = quantile(values, 0.05);
    result.p50 = quantile(values, 0.5);
    result.p95 = quantile(values, 0.95);
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
        result.quantities.push_back({key, label, unit, spread(samples, measure)});
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
