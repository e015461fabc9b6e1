#include "tools/explain/job_explanation.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/job/job_reading.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/search/screening.hpp"

namespace weft {
namespace {

struct Screened {
    MemoryVerdict memory;
    StepEstimate step;
};

Screened screened(const Study& study, const Topology& topology, std::shared_ptr<CallCosts>& costs) {
    const Library library = library_of(empty_plan(study));
    if (costs == nullptr || !(costs->library() == library)) costs = std::make_shared<CallCosts>(topology, library);
    Screen screen(study, costs);
    Screened found{.memory = screen.memory(), .step = {}};
    if (found.memory.fits) found.step = screen.estimate();
    return found;
}

std::optional<Study> read_other(const JobFile& file, const Alternative& alternative, const StudySources& sources) {
    std::vector<std::string> all = file.overrides;
    all.insert(all.end(), alternative.assignments.begin(), alternative.assignments.end());
    try {
        return read_study(open_job(file.source, all).document, Purpose::simulation, sources);
    } catch (const ConfigError&) {  // not a job of this framework, model or machine
        return std::nullopt;
    }
}

// With what the machine has anyway said out loud.
Job spoken(const Study& study) {
    Job job = study.job;
    job.fabric.routing = job.fabric.routing.value_or(study.machine.info().routing);
    return job;
}

bool are_equal(const StepEstimate& a, const StepEstimate& b) {
    return a.time == b.time && a.compute == b.compute && a.exposed == b.exposed;
}

}  // namespace

std::vector<OtherJob> other_jobs(const JobFile& file, const Study& study, const Topology& topology, Seconds own) {
    const StudySources sources;
    const std::size_t lacking = lacking_features(study.job).size();
    std::shared_ptr<CallCosts> costs;
    const Screened as_it_is = screened(study, topology, costs);
    const Job own_job = spoken(study);
    std::vector<OtherJob> found;
    for (Alternative& alternative : alternatives(study.job)) {
        std::optional<Study> read = read_other(file, alternative, sources);
        if (!read) continue;
        OtherJob other{.setting = {.assignments = std::move(alternative.assignments),
                                   .changes_numerics = alternative.changes_numerics},
                       .study = *std::move(read)};
        const Job job = spoken(other.study);
        const auto is_this = [&](const OtherJob& known) { return spoken(known.study) == job; };
        if (job == own_job || std::ranges::any_of(found, is_this)) continue;
        if (lacking_features(other.study.job).size() > lacking) continue;
        ExplainedSetting& setting = other.setting;
        try {
            const Screened one = screened(other.study, topology, costs);
            setting.memory = one.memory.peak;
            setting.fits = one.memory.fits;
            if (setting.fits) other.foreseen = setting.step = own * (one.step.time / as_it_is.step.time);
            other.is_equal = are_equal(one.step, as_it_is.step);
            if (setting.fits && !(other.study.job.fabric == study.job.fabric)) {
                other.is_equal = false;
                setting.means = Means::none;
            }
        } catch (const RangeError&) {  // a call that the library cannot run
            setting.fits = false;
        }
        found.push_back(std::move(other));
    }
    return found;
}

void simulate_setting(OtherJob& other, const Study& study, const SimulationOptions& options,
                      std::unique_ptr<PreparedTopology>& prepared) {
    Plan plan = make_plan(other.study);
    try {
        if (other.study.job.fabric == study.job.fabric) {
            Simulation run = simulate_step(std::move(plan), options, std::move(prepared));
            other.setting.step = since_start(run.timeline.end);
            prepared = std::move(run.prepared);
        } else {
            other.setting.step = since_start(simulate_step(other.study, std::move(plan), options).timeline.end);
        }
        other.setting.means = Means::simulated;
    } catch (const RangeError&) {
        other.setting.fits = false;
    }
}

}  // namespace weft
