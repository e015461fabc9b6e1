// From a row of a validation set to the job that it is a measurement of.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "tools/collective/request.hpp"
#include "tools/validate/set.hpp"
#include "workloads/endurance/run_figures.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// The set's common keys with the row's own. Paths in it are meant from the set's folder. Throws ConfigError for keys
// that run through a value.
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
// nodes of the run, by name or number ("12 13 20").

// Throws ConfigError with every mistake.
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

}  // namespace weft
