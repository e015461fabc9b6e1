#include "tools/validate/long_run_row.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sim/base/check.hpp"
#include "tools/endurance/run.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

constexpr std::string_view prefix = "run.";
constexpr std::uint64_t samples = 200, seed = 1;

std::optional<Seconds> duration(Field& field, std::string_view key) {
    return field.has(key) ? std::optional(field.duration(key)) : std::nullopt;
}

RunTerms read_terms(Document document) {
    Field root = document.root(), run = root.object("run");
    RunTerms terms{.time = Seconds{run.number("days") * 86400},
                   .saving = run.flag("asynchronous", false) ? Saving::asynchronous : Saving::synchronous,
                   .interval = duration(run, "checkpoint_every"),
                   .detection = duration(run, "detection"),
                   .stop = duration(run, "stop"),
                   .launch = duration(run, "launch")};
    if (run.has("spares")) terms.spares = run.whole("spares");
    run.done();
    document.check();
    return terms;
}

double value_of(std::string_view quantity, const RunResult& result) {
    const std::string_view name = quantity.substr(prefix.size());
    if (name == "between_failures_s") return result.plan.between_failures.value;
    if (name == "checkpoint_s") return result.plan.run.write.value;
    if (name == "load_s") return result.plan.run.load.value;
    const auto mean = [&](std::string_view key) { return result.quantity(key).spread.mean; };
    if (name == "interruptions") return mean("restarts");
    if (name == "failures") return mean("hardware") + mean("software");
    for (const std::string_view key : {"goodput", "hardware", "software", "planned"}) {
        if (name == key) return mean(key);
    }
    throw RangeError(fmt::format("a run has no {}", quantity));
}

}  // namespace

bool is_of_run(std::string_view quantity) { return quantity.starts_with(prefix); }

RunRequest read_run(const Document& document) {
    auto job = nlohmann::ordered_json::parse(document.text());
    job.erase("run");
    RunTerms terms = read_terms(document.copy());
    return {read_study(Document::parse(std::string(document.name()), job.dump())), std::move(terms)};
}

std::vector<double> predicted_run(const RunRequest& request, std::span<const PublishedValue> measured) {
    const Plan plan = make_plan(request.study);
    const Report step = make_report(simulate_step(request.study, plan));
    RunPlan run = plan_run(plan, {run_stretch(step, plan.job.batch.global, 0)}, request.terms);
    std::vector<RunSample> played;
    for (std::uint64_t i = 0; i < samples; ++i) played.push_back(sample_run(run.run, seed, i));
    const RunResult result = run_result(std::move(run), played, seed, std::nullopt, plan.job.layout.ranks());
    std::vector<double> values;
    for (const PublishedValue& each : measured) values.push_back(value_of(each.quantity, result));
    return values;
}

}  // namespace weft
