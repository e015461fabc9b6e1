// Predicts what the rows of validation sets measured. Rows are independent simulations on threads; the results come in
// the order of the rows and are the same for any number of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/io/document.hpp"
#include "tools/collective/collective.hpp"
#include "workloads/endurance/run_plan.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// A validation set: published measurements of one source, each with the job that it is a measurement of. A set is a
// JSON file (what is common) and a CSV file (one measured run per row); tests/validation/README.md tells of both.

// Whether constants of a device, machine or framework were fitted to the row; a disturbed measurement judges nothing
// and is fitted to by nothing. Rows of different uses never mix.
enum class RowUse : std::uint8_t { predict, fit, disturbed };

// A job key and its value, as written.
struct JobCell {
    std::string key;  // "layout.tensor"
    std::string value;
};

struct PublishedValue {
    std::string quantity;  // the column without "measured.": "step_s"
    double value = 0;      // in SI units; above 0
};

struct ValidationRow {
    std::string name;  // unique within the set
    RowUse use{};
    std::vector<JobCell> cells;  // what differs from the set's common job; no empty ones
    std::vector<PublishedValue> measured;
    std::string note;
    std::string disturbed;  // why the measurement is taken to be, if it is
    int line = 0;           // of the table
};

// The most that statistics of absolute relative errors may be; nothing: not promised.
struct ErrorBounds {
    std::optional<double> mean, median, percentile_90, largest;
};

struct ValidationSet {
    std::string name;                // of the JSON file, without folder and ending
    std::string path, table_path{};  // of the two files, for messages
    std::string title, source;
    std::vector<std::string> assumptions{};  // what the source does not say
    std::string cause{};                     // why rows are off by more than 10 %, with evidence; empty: not known
    ErrorBounds bounds;                      // of the rows marked predict
    ErrorBounds residual_bounds;             // of those marked fit
    std::vector<std::string> fits{};         // constants fitted to rows marked fit: "a100-80.host_launch"
    std::string job{};                       // common keys, a JSON object
    std::vector<ValidationRow> rows{};
};

// A shipped set, or the path of a set's JSON file. Throws ConfigError with every mistake in either file.
ValidationSet load_validation_set(std::string_view name);
// The same from the texts of the two files.
ValidationSet read_validation_set(const std::string& path, std::string text, const std::string& table_path,
                                  std::string_view table);
std::vector<std::string> validation_set_names();  // shipped, sorted
// Of a shipped set; empty of any other.
std::string cause_of_errors(std::string_view set);

// The CSV file of a validation set. Its columns:
//
//   name                  of the row, unique
//   use                   fit or predict
//   measured.<quantity>   what was measured (tools/validate/run.hpp); an empty cell: not measured
//   note                  optional, for people
//   disturbed             optional: why the measurement is disturbed; the row is reported apart then
//   any other             a key of the job file, such as layout.tensor; an empty cell: the set's common value

// From a row of a validation set to the job that it is a measurement of: the set's common keys with the row's own.
// Paths in it are meant from the set's folder. Throws ConfigError for keys that run through a value.
Document row_document(const ValidationSet& set, const ValidationRow& row);

// The same as compact JSON that `weft simulate` reads from anywhere: relative paths of a machine or model are made
// absolute. Throws ConfigError as well.
std::string row_job(const ValidationSet& set, const ValidationRow& row);
// The same on many lines, with the row's name above it.
std::string row_job_text(const ValidationSet& set, const ValidationRow& row);

// Mistakes in the jobs of a set's rows, told once each: those of a row's cells at its line of the table, those of
// common keys at the set.
class RowErrors {
  public:
    void add(const ValidationSet& set, const ValidationRow& row, const ConfigError& error);
    void check() const;  // throws ConfigError if there is any

  private:
    struct Entry {
        Diagnostic diagnostic;
        std::string row;  // the first that has it
        std::size_t rows = 1;
    };
    std::vector<Entry> entries_;
};

// A measured collective as a job of its own: the keys of a validation row that measures collective_s.
//
//   machine library op ranks ranks_per_node groups size algorithm protocol calls fabric node_list
//
// as the options of `weft collective` mean them. size: of the full buffer, with its unit ("64 KiB"). node_list: the
// nodes of the run, by name or number ("12 13 20"). Throws ConfigError with every mistake.
CollectiveRequest read_collective(Document document);

// Seconds of the call. Throws ConfigError if the library cannot run it.
Seconds collective_time(const CollectiveRequest& request);

// A measured run as a validation row: the job's keys, and under `run` what was published of how it was run:
//
//   days checkpoint_every asynchronous spares detection stop launch
//
// as the options of `weft run` mean them. What it measures, as means over runs that are played:
//
//   run.goodput run.interruptions run.failures run.hardware run.software run.planned
//   run.between_failures_s run.checkpoint_s run.load_s    as planned: mean time between failures, a checkpoint, loading
struct RunRequest {
    Study study;
    RunTerms terms;
};

bool is_of_run(std::string_view quantity);

// Throws ConfigError with every mistake.
RunRequest read_run(const Document& document);

// Throws RangeError: the run gets nowhere, or has no such quantity.
std::vector<double> predicted_run(const RunRequest& request, std::span<const PublishedValue> measured);

// A row that was read and checked. Constants of its device may be changed before it is predicted.
struct ValidationCase {
    std::size_t set = 0, row = 0;  // places in the sets and their rows
    std::variant<Study, CollectiveRequest, RunRequest> subject;
};

// The rows of `sets` whose names contain `filter`. Throws ConfigError with every mistake in any row's job, by set, line
// and key.
std::vector<ValidationCase> validation_cases(std::span<const ValidationSet> sets, std::string_view filter = {});

// What kind of job a step is: enough to tell which measured runs are like it. What matters most comes first.
inline constexpr std::array<std::string_view, 7> trait_names{"device",    "framework", "model",  "layers",
                                                             "precision", "sharding",  "context"};

struct JobTraits {
    std::array<std::string, trait_names.size()> values;  // in words: "a100-80", ..., "optimizer sharded", ...
    double ranks = 1;
};

JobTraits job_traits(const Plan& plan);

// The same of one collective call; what is left of the traits is "".
inline constexpr std::array<std::string_view, trait_names.size()> call_trait_names{"library", "nodes",  "op", "size",
                                                                                   "machine", "groups", ""};
JobTraits call_traits(const CollectiveRequest& request, Bytes message);

struct Prediction {
    std::vector<double> values;  // one per measurement of the row, in SI units
    bool fits = true;            // in the device's memory
    Flops step_flops{};          // by the convention asked for; 0 of a collective
    double ranks = 1;
    std::optional<JobTraits> job{};  // of a step or a call
};

// Throws ConfigError or RangeError for what cannot be predicted.
Prediction predict(const ValidationCase& one, const ValidationRow& row,
                   FlopConvention convention = FlopConvention::model);

// One measurement beside its prediction.
struct ValidatedRow {
    std::size_t set = 0, row = 0;
    std::string quantity;
    double measured = 0, predicted = 0;
    bool fits = true;
    // TFLOP/s per accelerator by the convention asked for; 0 where the quantity is no time of a step.
    double measured_tflops = 0, predicted_tflops = 0;
    std::optional<JobTraits> job{};  // of a step or a call

    double error() const { return predicted / measured - 1.0; }
};

struct ValidationOptions {
    std::string filter{};
    unsigned threads = 1;
    FlopConvention convention = FlopConvention::model;
    std::vector<Device> devices{};                                        // in place of those of the same names
    std::function<void(std::size_t done, std::size_t cases)> progress{};  // called from any thread, one at a time
};

// By set, row and column of measurement. Throws ConfigError with every mistake in any row.
std::vector<ValidatedRow> run_validation(std::span<const ValidationSet> sets, const ValidationOptions& options = {});

// What validation rows measure, by the name of their column (without "measured."), in SI units:
//
//   step_s tokens_per_s peak_bytes           of the step
//   model_tflops megatron_tflops neox_tflops TFLOP/s per GPU by a convention (workloads/report/report.hpp)
//   layer_forward_s layer_backward_s         of one transformer layer (LayerTime)
//   communication.<dimension>_s              in transfer, mean over ranks: communication.tensor_s,
//   communication.<dimension>.<op>_s         communication.data.all_gather_s; blanks of the names are '_'
//   call.<dimension>[.<op>]_s                the same of one call, on average
//   collective_s                             one collective on its own; the row's keys are those of read_collective()
//   run.goodput and the like                 of a run of many steps (RunRequest)
//   and any metric of `weft simulate --json`: step.compute_s, memory.peak_bytes, ...

// How long one transformer layer takes inside a step, as layer benchmarks measure it.
struct LayerTime {
    Seconds forward, backward;  // full recomputation belongs to backward
};

// Of the first micro-batch in the second layer of the first stage (its only layer, if there is one): from the begin of
// the pass's first operation to the end of its last, calls of tensor, context and expert parallelism included; neither
// embedding and head nor the reduction of gradients. Throws RangeError if the pass did not happen.
LayerTime layer_time(const Simulation& run);

inline constexpr std::string_view collective_quantity = "collective_s";

// Why no such quantity can be predicted; empty if one can.
std::string quantity_obstacle(std::string_view quantity);

// How a quantity is written for people: "s", "B", "TFLOP/s" or "".
std::string_view quantity_unit(std::string_view quantity);

// Whether it is of one layer by itself, so that the whole job need never have run, nor fit in memory.
bool of_one_layer(std::string_view quantity);

}  // namespace weft
