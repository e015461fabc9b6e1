// What commands print of their results, for people and for programs; and what texts and pages of them have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/quantity.hpp"
#include "sim/engine/engine.hpp"
#include "tools/calibrate/device_fit.hpp"
#include "tools/collective/collective.hpp"
#include "tools/endurance/run.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_table.hpp"
#include "topologies/calibration/calibration.hpp"
#include "topologies/machine.hpp"
#include "workloads/recorded/replay.hpp"
#include "workloads/sharing/sharing.hpp"

namespace weft {

// The rows of `weft collective` as benchmarks print them, beside measurements, and for programs.

// The table of nccl-tests, with the algorithm and protocol behind it; lines that are no rows begin with #.
std::string collective_nccl(const CollectiveRequest& request, std::span<const CollectiveRow> rows);
std::string collective_osu(const CollectiveRequest& request, std::span<const CollectiveRow> rows);
std::string collective_json(const CollectiveRequest& request, std::span<const CollectiveRow> rows,
                            const std::optional<Comparison>& comparison);
std::string collective_csv(std::span<const CollectiveRow> rows);
// Quantiles of every row, if samples were asked for.
std::string collective_samples(const CollectiveRequest& request, std::span<const CollectiveRow> rows);
// Phases and candidates of every row.
std::string collective_explanation(std::span<const CollectiveRow> rows);

// Comment lines that a table of calls should not be read without: where a larger message is the faster one and why,
// what shared NICs cost, how well such calls are known.
std::string call_notes(const CollectiveRequest& request, std::span<const CollectiveRow> rows);

// "64 ranks on 8 nodes, 8 groups of 8"
std::string layout_text(const SetLayout& layout);

std::string comparison_text(const Comparison& comparison, const std::string& file);
std::string summary_text(const ErrorSummary& summary);  // "error of 29 rows: median 8.1 %, ..."
Json summary_json(const ErrorSummary& summary);         // without the number of rows

// A long run.

// "gpt-neox-20b on frontier: 128 ranks = tensor 4 x ... on 16 nodes, deepspeed"
std::string run_heading(const Job& job, const MachineInfo& machine);
std::string played_text(const RunResult& result);  // "1,000 runs played, seed 1"
// Whether it is time that the run spends on something, beside its steps.
bool is_part(const RunQuantity& quantity);
std::string run_cell(RunUnit unit, double value);  // "54.0 d", "99.1 %", "26.6 MWh"

TextTable run_facts(const RunResult& result);  // "restart", "detection 10.0 min, ..."
// Quantiles and means of what was played.
TextTable run_quantities(const RunResult& result, std::string_view (*label)(const RunQuantity& quantity));

std::string run_text(const Job& job, const MachineInfo& machine, const RunResult& result);
std::string run_json(const Job& job, const MachineInfo& machine, const JobRecord& record, const RunResult& result);

// Jobs that share a machine.

TextTable sharing_jobs(const Sharing& sharing);  // a row per job: alone and together
// Classes of links where jobs meet, and so many of these links, the busiest: bytes of each job in a step.
TextTable meeting_classes_table(const Sharing& sharing);
TextTable meeting_links_table(const Sharing& sharing, std::uint32_t links);

std::string sharing_heading(const Sharing& sharing);
std::string sharing_text(const Sharing& sharing, std::uint32_t links);
std::string sharing_json(const Sharing& sharing, std::uint32_t links, Seconds wall);

// What a recorded program was replayed on.
struct ReplaySetting {
    const MachineInfo* machine = nullptr;
    const Library* library = nullptr;
    std::uint32_t nodes = 1;
    NetworkKind network = NetworkKind::flow;
    std::string compute;  // as asked
};

// What the text and the page have in common.
std::string_view activity_word(RankActivity activity);
std::string replay_setting_text(const ReplaySummary& summary, const ReplaySetting& setting);
ResultTable replayed_call_table(const ReplaySummary& summary);
ResultTable replayed_path_table(const ReplaySummary& summary, std::size_t most);  // rows

std::string replay_text(const ReplaySummary& summary, const ReplaySetting& setting);
// The keys of `weft simulate --json`, where they mean something, and "recorded".
std::string replay_json(const ReplaySummary& summary, const ReplaySetting& setting, Seconds wall);

// What calibrations of libraries and devices found, for people and for programs; and what a validation set says that
// was left out of the fits.

std::string calibration_text(const Calibration& calibration, const MeasuredRows& rows);
std::string calibration_json(const Calibration& calibration, const MeasuredRows& rows);

// A line for each fitted row that the fit misses by more than half: the table may hold an outlier or another algorithm.
std::string calibration_warnings(const Calibration& calibration, const MeasuredRows& rows);

// "fitted to 29 rows of all_reduce among 8 ranks on 1 node (table.csv), median error 3.1 %"
std::string provenance(const Calibration& calibration, const MeasuredRows& rows);

std::string device_calibration_text(const DeviceFit& fit);
std::string device_calibration_json(const DeviceFit& fit);

// A value in its unit: "0.8132", "2.4 us".
std::string constant_text(const DeviceConstant& constant, double value);
// The standard deviation of the i-th constant; empty if there is none.
std::string deviation_text(const DeviceFit& fit, std::size_t i);

std::string left_out_text(std::string_view set, const LeftOut& result);

}  // namespace weft
