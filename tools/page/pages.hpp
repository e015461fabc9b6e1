// The pages that commands write with --report and `weft serve` sends, one function each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/endurance/run.hpp"
#include "tools/explain/job_explanation.hpp"
#include "tools/output/result_table.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/page/inputs.hpp"
#include "tools/page/timeline.hpp"
#include "tools/plan/request.hpp"
#include "tools/validate/scorecard.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/recorded/replay.hpp"
#include "workloads/recorded/step_comparison.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/search/plan_result.hpp"
#include "workloads/sharing/sharing.hpp"

namespace weft {

// Jobs that share a machine: what each step loses to the others, and where they meet. `links`: as many as are told.
std::string sharing_page(const Sharing& sharing, std::uint32_t links, std::string_view command);

// The rows of a sweep as a page: lines over any varied key, a heat map over any two, all rows to sort and filter.

// What stands above the charts.
struct ResultPageText {
    std::string title;               // "gpt-neox-20b on frontier"
    std::string command;             // that made it: "weft sweep JOB --vary ..."
    std::string summary{};           // a sentence or more; empty: none
    std::string_view row = "point";  // what each stands for
    std::string further{};           // HTML before the rows
};

// Columns of kind key are what was varied, notes say why a row has no result.
std::string sweep_page(const ResultPageText& text, const ResultTable& table);

// A search for layouts as a page: step time against memory with the front of those that nothing beats in both, the
// candidates as a table, and why the others were refused.

// What the rows do not tell.
struct PlanPageFacts {
    // "weft simulate job.json": with --set of a row's keys, what simulates a candidate.
    std::string simulate{};
    // Of screened over simulated times, less one; absolute. 0 where nothing was simulated.
    double mean_error = 0, largest_error = 0;
    std::map<std::size_t, LaunchFiles> files{};  // by row
    ResultTable reasons{};                       // of refusals
};

// A row per candidate. Columns of kind key name the layout; these are known by name:
//   step_time_s        simulated; absent of what was not
//   screened_time_s    in closed form; absent of what does not fit (such a column may be missing)
//   memory_peak_bytes
//   verdict            a note: counted
// The page keeps the most_kept_candidates with the shortest steps, simulated ones first, and says of how many.
inline constexpr std::size_t most_kept_candidates = 3000;
std::string plan_page(const ResultPageText& text, const ResultTable& table, const PlanPageFacts& facts);

// Jobs side by side as a page: what they say differently, their figures, where the difference in time comes from, and
// their timelines on one axis.
// Links over time are there if the simulations recorded them (Recording::spans_and_links).
std::string compare_page(const JobComparison& comparison, const ResultPageText& text);

// Recorded steps of a job beside the simulated one as a page: where they differ by class, cause and call, what of
// either has no counterpart, layer by layer, and both timelines on one axis. Further traces stand behind a line each.
struct ComparedTrace {
    KinetoTrace trace;
    StepComparison found;
};
// `job`: its name.
std::string step_comparison_page(std::span<const ComparedTrace> traces, const Simulation& run, const JobInput& input,
                                 const std::string& job);

// The scorecard as a page: errors by set, predictions over measurements, every row.
std::string validation_page(const Validation& validation);

// A whole training run as a page: its time, goodput, energy and cost over the runs played, where time is lost, and what
// it was played with.

// `command` made it.
std::string run_page(const Job& job, const MachineInfo& machine, const RunResult& result, const std::string& command);

// Pages about one job, as commands write them with --report and `weft serve` sends them.

// Of `weft simulate`: the step with its critical path. Of `weft explain`: also what would change it; `simulate` is the
// command line that settings are added to. Links over time are there if the simulation recorded them
// (Recording::spans_and_links).
std::string explained_page(const JobExplanation& explained, const JobInput& input, const std::string& simulate = {});

// A replayed program as a page.
struct ReplayedProgram {
    const RecordedProgram& program;
    const Meetings& meetings;
    const RecordedCosts& costs;
    const RecordedRun& run;
};
std::string replay_page(const ReplayedProgram& replayed, const ReplaySummary& summary, const ReplaySetting& setting,
                        const std::string& command);

// How a search was asked for.
struct SearchCommands {
    std::string plan;                      // as it was typed
    std::string simulate;                  // that a layout is added to
    const ExportFormat* launch = nullptr;  // of the scripts; null: that of the framework
};
// Of `weft plan`.
std::string search_page(const PlanRequest& request, const PlanResult& result, const SearchCommands& commands);

// The layout of this place among the simulated ones, the best first, as assignments.
std::vector<std::string> simulated_layout(const PlanResult& result, std::size_t place);

}  // namespace weft
