// A job explained: its critical path, what each limit costs, and what each setting would give.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/explain/explanation.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/report/report.hpp"
#include "workloads/study_sources.hpp"

namespace weft {

// A change that nobody can make, and what the step would take with it.
struct ExplainedKnob {
    std::string knob, change;
    Seconds step;
};

// Other settings of the job, that its framework's version runs (or that the job itself has to be modelled for).
struct ExplainedSetting {
    std::vector<std::string> assignments;  // "batch.micro=2"
    bool changes_numerics = false;
    Bytes memory;  // of the fullest stage
    bool fits = false;
    Seconds step;  // only if it fits
};

struct JobExplanation {
    ExplainedStep step;
    Report report;
    Explanation explanation;
    std::vector<ExplainedKnob> knobs;        // the shortest step first
    std::vector<ExplainedSetting> settings;  // those that fit first, of these the shortest step
};

struct ExplainOptions {
    SimulationOptions simulation;
    bool changes = true;  // whether knobs and settings are simulated
    unsigned threads = 1;
    // Hears of what was done of what is to be done, from any thread, one at a time.
    std::function<void(std::size_t done, std::size_t count)> progress{};
};

// A job with "key.path=value" overrides, from which other jobs are read with more of them.
struct JobFile {
    JobSource source;
    std::vector<std::string> overrides;
};

// `study`: the job of the file. The same for any number of threads. Throws RangeError as simulate_step() does.
JobExplanation explain_job(const Study& study, const JobFile& file, const ExplainOptions& options);

// A change that makes less than this of a step is called none.
inline constexpr double no_difference = 5e-4;
inline bool makes_difference(Seconds changed, Seconds own) { return std::abs(changed / own - 1.0) >= no_difference; }

std::string assignments_text(const ExplainedSetting& setting);  // "layout.tensor=8 layout.data=4"
// Those that are at least a thousandth of the step, and what is left as one, "all else"; they sum to the step.
std::vector<ExplainedCause> main_causes(const Explanation& explanation);

}  // namespace weft
