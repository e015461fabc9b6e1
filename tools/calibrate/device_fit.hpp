// Fits the constants of a device to measurements of any kind: least squares on log(predicted / measured).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/calibration/device_constants.hpp"
#include "models/calibration/kernel_measurement.hpp"
#include "tools/command.hpp"
#include "tools/validate/run.hpp"
#include "tools/validate/scorecard.hpp"
#include "topologies/calibration/calibration.hpp"
#include "topologies/machine.hpp"
#include "workloads/job/job.hpp"
#include "workloads/recorded/step_comparison.hpp"

namespace weft {

// Tables of measured kernels, as tools/measure/kernels.py writes them: CSV, comments begin with '#'.
//
//   kind            gemm attention attention_backward memory launch host contended (models/calibration)
//   precision       fp32 fp16 bf16 fp8; bf16 if empty
//   m n k count     of a gemm: m x n x k, count of them in one launch
//   keys head_size heads batch   of causal attention; as many queries as keys
//   bytes           read and written by memory and launch kernels
//   seconds         of one kernel
//   alone_seconds   contended: of the same kernel without communication
//   spread          optional: of the repetitions, as a share of seconds. Rows that vary count less
//   name            of memory kernels: the class of pass; else for people
//   ...             any other column is for people, and for --hold
struct DeviceTableRow {
    KernelMeasurement measured;
    double weight = 1.0;
    bool is_held = false;
    int line = 0;
};

// A column and the text in its cells.
using HeldCell = std::pair<std::string, std::string>;

// Rows that meet one of `holds` are held. Throws ConfigError with every mistake (20 at most) and its line.
std::vector<DeviceTableRow> read_device_table(const std::string& path, std::string_view text,
                                              const std::vector<HeldCell>& holds);

struct DeviceFitRow {
    std::string kind;   // rows of one kind are summed up together: "gemm", "step_s of sc21"
    std::string where;  // "kernels.csv:12"
    double measured = 0, before = 0, after = 0;
    double weight = 1.0;
    bool is_held = false;  // not fitted, only predicted
};

// Measurements that one prediction answers: a table of kernels, or the run of one job.
struct DeviceFitSource {
    std::vector<DeviceFitRow> rows;
    // One value per row, above 0 wherever the row's own measurement is.
    std::function<std::vector<double>(const Device&)> predict;

    bool is_fitted() const;  // any of its rows
};

// Products of a table may have been timed at the pace of the host's loop, which is found with what is fitted.
DeviceFitSource table_source(const std::string& file, const std::vector<DeviceTableRow>& rows);

struct DeviceFit {
    std::vector<DeviceConstant> constants;
    std::vector<double> before;
    Fit fit;
    std::vector<DeviceFitRow> rows;  // of all sources
};

// `constants` are of `device`. Sources are predicted on `threads` threads; the result does not depend on how many.
DeviceFit fit_device(const Device& device, std::vector<DeviceConstant> constants,
                     const std::vector<DeviceFitSource>& sources, unsigned threads);

struct KindErrors {
    std::string kind;
    bool is_held = false;
    std::size_t rows = 0;
    double before = 0, after = 0;  // root mean square of log(predicted / measured)
};
// By kind, fitted rows first; with more than one kind, a line of all.
std::vector<KindErrors> errors_by_kind(const DeviceFit& fit);

// Of a recorded step of `study`: kernels by class and pass that both sides have, without what communication beside them
// took, and that factor; what lies between kernels where the host is ahead, else the host's time to issue a layer. What
// takes less than 1/200 of the step, or is of kernels shorter than 10 us, tells nothing.
DeviceFitSource trace_source(const Study& study, const StepComparison& found);
// Whether steps of such a job tell this constant of its device, by rows of its own.
bool is_told_by_steps(const DeviceConstant& constant, const Study& study);

// Rows of validation sets as measurements of a device: each is a simulated step, or more than one quantity of it. The
// rows of `sets` that ran on a device of this name, and in them what depends on its constants: times and rates, not
// bytes; no disturbed ones. Those marked predict are held, and those that `holds` name ("name=..."). The sources refer
// to `sets`. Throws ConfigError with every mistake in any row's job.
std::vector<DeviceFitSource> set_sources(std::span<const ValidationSet> sets, const Device& device,
                                         const std::vector<HeldCell>& holds);

// How a validation set fares if nothing is fitted to it: the constants that its rows were fitted to are fitted to the
// rows of the other sets on the same device, to those marked fit if they tell them, else to all.
struct RefittedConstant {
    std::string device;
    DeviceConstant constant;
    double shipped = 0, refitted = 0;
    std::size_t rows = 0;  // that it was fitted to; 0: no row of another set tells it, and it is kept
    RowUse use{};          // fit, or predict where rows of either use were needed
    Determination determination{};
};

struct LeftOut {
    std::vector<RefittedConstant> constants;
    ErrorsByUse shipped, refitted;  // of the set
};

// `others` may have the set among them. Throws ConfigError for a constant that no device has, and with every mistake in
// any row's job.
LeftOut leave_out(const ValidationSet& set, std::span<const ValidationSet> others, unsigned threads);

// What `weft calibrate` fits, from the command line.

struct MeasuredRows {
    std::vector<CalibrationRow> rows;
    std::vector<std::string> files;  // of each row
};

struct TracesAndTables {
    std::vector<std::string> traces, tables;
};

TracesAndTables traces_and_tables(const po::variables_map& arguments);  // of the files on the command line
double within_option(const po::variables_map& arguments);               // throws OptionError: no factor above 1

// The rows of the tables on the command line that were measured with `library`, and the collectives of traces, with
// ranks and nodes made sure of. Throws ConfigError, and OptionError for options.
MeasuredRows measured_rows(const po::variables_map& arguments, const Machine& machine, const Library& library);

// The constants of a device from measured kernels, recorded steps and validation rows: `weft calibrate` without a
// machine; writes the file of --out. Throws ConfigError, and OptionError for options.
DeviceFit calibrate_device(const po::variables_map& arguments);

// Files of devices and machines (shipped, or a path) with what was fitted in place of what was there; comments are
// lost. Each constant has `provenance` as its source, of a device with its standard deviation and what it replaces, of
// a machine's library behind the source before. Throw ConfigError.
std::string device_with(std::string_view name, const DeviceFit& fit, std::string_view provenance);
std::string machine_with(std::string_view name, const Calibration& calibration, std::string_view provenance);
// "fitted to 120 gemm, 16 memory rows (kernels.csv), rms error 3.1 %"
std::string provenance(const DeviceFit& fit);

}  // namespace weft
