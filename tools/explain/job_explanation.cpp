#include "tools/explain/job_explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/base/check.hpp"
#include "tools/parallel.hpp"
#include "tools/shelf.hpp"
#include "workloads/explain/alternatives.hpp"
#include "workloads/explain/what_if.hpp"
#include "workloads/formats/job_file.hpp"

namespace weft {
namespace {

struct OtherJob {
    ExplainedSetting setting;
    Study study;
};

// The alternatives that are other jobs, that the reader takes, and that can be run where the job itself can.
std::vector<OtherJob> other_jobs(const JobFile& file, const Study& own) {
    const StudySources sources;
    const std::size_t lacking = lacking_features(own.job).size();
    std::vector<OtherJob> found;
    for (Alternative& alternative : alternatives(own.job)) {
        std::vector<std::string> all = file.overrides;
        all.insert(all.end(), alternative.assignments.begin(), alternative.assignments.end());
        try {
            Study study = read_study(open_job(file.source, all).document, Purpose::simulation, sources);
            const auto is_this = [&](const OtherJob& known) { return known.study.job == study.job; };
            if (study.job == own.job || std::ranges::any_of(found, is_this)) continue;
            if (lacking_features(study.job).size() > lacking) continue;
            found.push_back({.setting = {.assignments = std::move(alternative.assignments),
                                         .changes_numerics = alternative.changes_numerics,
                                         .memory = {},
                                         .step = {}},
                             .study = std::move(study)});
        } catch (const ConfigError&) {  // not a job of this framework, model or machine
        }
    }
    return found;
}

void simulate_setting(OtherJob& other, const SimulationOptions& options, std::unique_ptr<PreparedTopology>& prepared,
                      const Fabric& fabric) {
    Plan plan = make_plan(other.study);
    other.setting.memory = plan.stages[plan.fullest_stage()].memory.total();
    other.setting.fits = plan.fits();
    if (!plan.fits()) return;
    try {
        if (!(other.study.job.fabric == fabric)) {
            other.setting.step = since_start(simulate_step(other.study, std::move(plan), options).timeline.end);
            return;
        }
        Simulation run = simulate_step(std::move(plan), options, std::move(prepared));
        other.setting.step = since_start(run.timeline.end);
        prepared = std::move(run.prepared);
    } catch (const RangeError&) {  // a call that the library cannot run
        other.setting.fits = false;
    }
}

}  // namespace

JobExplanation explain_job(const Study& study, const JobFile& file, const ExplainOptions& options) {
    JobExplanation result{.step = simulate_to_explain(study, options.simulation, prepare(study))};
    result.report = make_report(result.step.run);
    result.explanation = explain(study, result.step);
    if (!options.changes) return result;

    const std::vector<WhatIf> changes = what_ifs(study, result.step, result.explanation);
    std::vector<OtherJob> others = other_jobs(file, study);
    result.knobs.resize(changes.size());
    SimulationOptions simulation = options.simulation;
    simulation.kept = Kept::sums;
    simulation.recording = Recording::spans;
    Shelf<std::unique_ptr<PreparedTopology>> shelf;
    for_each_in_parallel(
        changes.size() + others.size(), options.threads,
        [&](std::size_t i) {
            auto prepared = shelf.take([&] { return std::make_unique<std::unique_ptr<PreparedTopology>>(); });
            if (*prepared == nullptr) *prepared = prepare(study);
            if (i < changes.size()) {
                const WhatIf& change = changes[i];
                result.knobs[i] = {change.knob, change.change,
                                   simulate_what_if(change, study, result.step.folded, simulation, **prepared)};
            } else {
                simulate_setting(others[i - changes.size()], simulation, *prepared, study.job.fabric);
            }
            shelf.give_back(std::move(prepared));
        },
        options.progress);
    for (OtherJob& other : others) result.settings.push_back(std::move(other.setting));
    std::ranges::stable_sort(result.knobs, {}, [](const ExplainedKnob& knob) { return knob.step.value; });
    std::ranges::stable_sort(result.settings, {}, [](const ExplainedSetting& setting) {
        return std::pair(!setting.fits, setting.fits ? setting.step.value : setting.memory.value);
    });
    return result;
}

std::string assignments_text(const ExplainedSetting& setting) {
    return fmt::format("{}", fmt::join(setting.assignments, " "));
}

std::vector<ExplainedCause> main_causes(const Explanation& explanation) {
    constexpr double worth_a_row = 0.001;
    const double least = worth_a_row * static_cast<double>(explanation.end.femtoseconds);
    std::vector<ExplainedCause> causes;
    ExplainedCause rest{.cause = {"all else", {}, {}}};
    for (const ExplainedCause& each : explanation.causes) {
        if (static_cast<double>(each.ticks) >= least) {
            causes.push_back(each);
        } else {
            rest.ticks += each.ticks;
            rest.elsewhere += each.elsewhere;
        }
    }
    if (rest.ticks > 0) causes.push_back(std::move(rest));
    return causes;
}

}  // namespace weft
