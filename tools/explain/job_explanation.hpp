// A job explained: its critical path, what each limit costs, and what each setting would give.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/explain/explanation.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/job.hpp"
#include "workloads/report/report.hpp"

namespace weft {

// How a step with a change was come by.
enum class Means : std::uint8_t {
    simulated,
    replayed,     // Foresight::replayed
    first_order,  // Foresight::first_order
    closed_form,  // Screen::estimate, as far off as of the job itself
    none,         // it was not: what is shared, or routes, nothing but a simulation tells
};
std::string_view name(Means means);  // "first order"

// A change that nobody can make, and what the step would take with it.
struct ExplainedKnob {
    std::string knob, change;
    Seconds step;  // the least that it can be, where nothing tells it
    Means means = Means::simulated;

    bool is_told() const { return means != Means::none; }
};

// Other settings of the job, that its framework's version runs (or that the job itself has to be modelled for).
struct ExplainedSetting {
    std::vector<std::string> assignments;  // "batch.micro=2"
    bool changes_numerics = false;
    Bytes memory{};  // of the fullest stage
    bool fits = false;
    Seconds step{};  // only if it is told
    Means means = Means::closed_form;

    bool is_told() const { return fits && means != Means::none; }
};

struct JobExplanation {
    ExplainedStep step;
    Report report{};
    Explanation explanation{};
    std::vector<ExplainedKnob> knobs{};        // the shortest step first
    std::vector<ExplainedSetting> settings{};  // those that fit first, of these the shortest step
    double screening_error = 0;                // of the closed form, against settings simulated: the largest, relative
};

struct ExplainOptions {
    SimulationOptions simulation;
    bool changes = true;  // whether knobs and settings are looked at
    // Which of them are simulated: the most promising, as far as some effort goes; of the others, what is known without
    // it is told.
    enum class Simulated : std::uint8_t { promising, all } simulated = Simulated::promising;
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

// How many knobs and settings that fit were come by each of the Means.
std::array<std::size_t, 5> changes_by_means(const JobExplanation& explained);

std::string assignments_text(const ExplainedSetting& setting);  // "layout.tensor=8 layout.data=4"
// Those that are at least a thousandth of the step, and what is left as one, "all else"; they sum to the step.
std::vector<ExplainedCause> main_causes(const Explanation& explanation);

// The settings one step away from a job's: read, screened in closed form, and simulated where asked.

struct OtherJob {
    ExplainedSetting setting;  // with its memory and, if it fits, its step in closed form
    Study study;
    Seconds foreseen{};  // that step, whatever a simulation puts in its place
    // Whether the closed form cannot tell it from the job itself, and sees all that is different.
    bool is_equal = false;
};

// The alternatives that are other jobs, that the reader takes, and that can be run where the job itself can, in the
// order of alternatives(). The closed form is taken to err as it does of the job itself, whose step is `own`.
std::vector<OtherJob> other_jobs(const JobFile& file, const Study& study, const Topology& topology, Seconds own);

// Puts what it simulates in place of the closed form. `prepared`: the study's, and again afterwards.
void simulate_setting(OtherJob& other, const Study& study, const SimulationOptions& options,
                      std::unique_ptr<PreparedTopology>& prepared);

// Jobs side by side: what they say differently, and the difference in step time by cause.

// The time of one cause on each job's critical path, in ticks.
struct ComparedCause {
    Cause cause;
    std::vector<std::int64_t> ticks;
};

// A key whose values differ between jobs, as JSON text; empty: absent.
struct ComparedInput {
    std::string key;
    std::vector<std::string> values;
};

struct JobComparison {
    std::vector<std::string> names;
    std::vector<JobExplanation> jobs;
    std::vector<ComparedCause> causes;  // by job, they sum to its step; the largest difference to the first job first
    std::vector<ComparedInput> inputs;
};

struct ComparedJob {
    std::string name;
    JobFile file;
};

// At least two. Throws ConfigError.
JobComparison compare_jobs(const std::vector<ComparedJob>& jobs, const ExplainOptions& options);

}  // namespace weft
