// A sweep that runs: what its points come to, who evaluates them, and what is done so far.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"
#include "tools/command.hpp"
#include "tools/output/result_table.hpp"
#include "tools/sweep/grid.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/job_reading.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// What a sweep is asked to do: on the command line, as a file, and as the hash of all that its rows follow from.

// Part i of n: every n-th row of the table, from row i - 1, so that neighbours, which cost about the same, are in
// different ones.
struct SweepShard {
    std::uint32_t number = 1, of = 1;
    bool operator==(const SweepShard&) const = default;
};

// "3/8". Throws std::invalid_argument.
SweepShard parse_shard(std::string_view text);

struct SweepRequest {
    JobSource job;
    std::vector<std::string> overrides;  // "key=value", for every point
    SweepGrid grid{{}};
    std::vector<std::string> conditions;  // a point must hold for all of them
    SimulationOptions simulation{.kept = Kept::sums};
};

// The points of the grid that the conditions hold for, ascending. Throws std::invalid_argument with the reason: a
// condition that cannot be read, or evaluated at some point, or none that any point holds for.
std::vector<std::size_t> points_of(const SweepRequest& request);

// The hash of all that the rows of a sweep follow from, part by part, so that a difference can be named.
struct SweepInputs {
    std::vector<std::pair<std::string, std::string>> parts;  // "job text", ...: each with its hash
    bool operator==(const SweepInputs&) const = default;

    std::string digest() const;
    // The parts in which `other` differs, for a message: "job text, grid".
    std::string difference(const SweepInputs& other) const;
};

// Reads the job's file and every file that the job or a varied value names. Throws ConfigError: unreadable.
SweepInputs inputs_of(const SweepRequest& request);

// A sweep as a file (JSON, comments allowed), for studies that are worth keeping:
//   "job"    path of the job file, from the folder of this one
//   "set"    {"key": value}: for every point
//   "zip"    [{"key": values, "key": values}, ...]: keys that vary together, as many values each
//   "vary"   {"key": values}: keys that vary on their own, the last fastest; those of "zip" vary more slowly
//   "where"  "condition" or ["condition", ...]
// where values are a list, or a text as --vary takes it: "512..65536*2".
struct SweepFile {
    std::filesystem::path job;
    std::vector<std::string> overrides;
    std::vector<Variation> zipped, varied;
    std::vector<std::string> conditions;
};

// Nothing if the file is a job: it has none of the keys above that a job does not have. Throws ConfigError with every
// mistake.
std::optional<SweepFile> read_sweep_file(const std::filesystem::path& path);

enum class Resume : std::uint8_t { no, yes };

struct SweepSettings {
    std::optional<std::filesystem::path> out;  // beside it the journal is kept; absent: none is
    Resume resume = Resume::no;
    SweepShard shard;
    std::function<bool()> stopped = [] { return false; };
    // From any thread, one at a time; first with those that the journal has.
    std::function<void(std::size_t done, std::size_t rows)> progress = [](std::size_t, std::size_t) {};
};

// From the job or sweep file, --vary, --zip, --where and --set. Throws OptionError, ConfigError.
SweepRequest sweep_request(const po::variables_map& arguments);

// From --out, --shard and --resume; without a crew's settings. Throws OptionError.
SweepSettings sweep_settings(const po::variables_map& arguments);

// Rows of a sweep on disk, complete or not: the journal of a sweep under way, and the result of a shard. JSON Lines: a
// header, then one list per row: a checksum of what follows it, the row's number, its cells. Lines are only ever added,
// so that a crash costs the last ones at most; a line that changed on the disk costs its own row.

using Row = std::vector<ResultCell>;
using RowsByNumber = std::map<std::size_t, Row>;  // from 0, in the order of the whole sweep's table

struct RowHeader {
    std::string job;  // its name
    SweepInputs inputs;
    std::size_t points = 0;  // of the whole sweep
    SweepShard shard;
    std::vector<Column> columns;
};

struct RowFile {
    RowHeader header;
    RowsByNumber rows;
    std::size_t whole_bytes = 0;           // up to the end of the last whole line; 0: not even the header is whole
    std::vector<Diagnostic> damaged = {};  // lines that are no whole rows of this file
};

// One line each, with its end.
std::string header_line(const RowHeader& header);
std::string row_line(std::size_t number, const Row& row);
// The reverse; throws std::invalid_argument for a text that row_line() does not give.
std::pair<std::size_t, Row> parse_row(std::string_view line);

// Drops a last line that was not written to its end, and tells of others that are damaged: their checksum is another; a
// row number twice or beyond the header's points, a row of another length than its columns. Throws ConfigError: no such
// file, or the header is damaged.
RowFile read_row_file(const std::filesystem::path& path);

// Whether the shard, or the whole sweep, has all its rows.
bool is_complete(const RowFile& file);
// How many rows a shard has.
std::size_t rows_of(std::size_t points, SweepShard shard);

// One table of the shards of a sweep.
struct MergedRows {
    std::string job;
    SweepInputs inputs;
    ResultTable table;
};

// Throws ConfigError with every mistake: files that are no shards, not complete, of other inputs or another number of
// shards than the first; shards twice or missing.
MergedRows merge_shards(const std::vector<std::filesystem::path>& paths);

// The same for every point, whatever came out.
std::vector<Column> sweep_columns(const SweepGrid& grid);

std::vector<ResultCell> metric_cells(const Report& report);
// What comes out of a point: its values, one cell per metric column or none of them, and the reason.
Row row_of(const SweepGrid& grid, std::size_t point, const std::vector<ResultCell>& metrics,
           const std::string& reason = "");
// Whether the row of a table with these columns has a result.
bool has_result(const Row& row);

struct SweepWork {
    std::vector<std::size_t> rows{};                  // to be evaluated, by number
    std::function<Row(std::size_t)> evaluate;         // from any thread, several at a time
    std::function<void(std::size_t, Row)> deliver{};  // what was evaluated, in any order, one at a time, each row once
    std::function<bool()> stopped;                    // then no more are begun
    std::string inputs;                               // digest: that all who evaluate must agree on
};

// Who evaluates the points of a sweep: threads of this process, or the ranks of an MPI job.
class Crew {
  public:
    virtual ~Crew() = default;
    // Whether this process has the work and takes the results. Others only evaluate.
    virtual bool leads() const = 0;
    // Ends when every row is delivered, or work.stopped() and all that was begun is delivered. What evaluate() or
    // deliver() throws comes out.
    virtual void run(const SweepWork& work) = 0;
};

std::unique_ptr<Crew> thread_crew(unsigned threads);

// Whether mpirun or srun started this process as one of several ranks.
bool is_mpi_job();

// The ranks of an MPI job, with so many threads each: rank 0 hands out points, keeps the journal and evaluates as well.
// A rank that dies takes the job with it, as MPI has it; the journal has what was done. Throws std::runtime_error if
// weft was built without MPI, since every rank would run the whole sweep; if MPI takes no calls from several threads;
// or if ranks disagree on the inputs.
std::unique_ptr<Crew> mpi_crew(unsigned threads);

// What a sweep has done so far, on disk, row by row as they are finished. What was written more than a second ago
// outlives a power cut, everything written a kill.
class Journal {
  public:
    // Of the sweep that writes to `out`: `out`.journal. Where there is one, its rows are those done: if `resume` says
    // so and they are of the same inputs. Throws std::runtime_error with the reason: rows of other inputs, rows that
    // would be lost without `resume`, another process that writes it, a file that cannot be written; ConfigError: its
    // header is damaged. Rows that are damaged are not among those done, and a line on stderr says so.
    Journal(const std::filesystem::path& out, const RowHeader& header, Resume resume);
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    ~Journal();

    const RowsByNumber& done() const { return done_; }  // before this process
    void add(std::size_t number, const Row& row);       // is on its way to the disk when this returns
    void remove();                                      // when the result is in place

    static std::filesystem::path path_of(const std::filesystem::path& out);

  private:
    void take_over(const RowHeader& header, Resume resume);
    void write(std::string_view line);
    void sync();
    [[noreturn]] void refuse(const std::string& reason) const;
    [[noreturn]] void refuse_write() const;  // for the reason in errno

    std::filesystem::path path_;
    int descriptor_ = -1;
    RowsByNumber done_;
    std::chrono::steady_clock::time_point synced_{};  // the beginning of the last time
};

// Runs a sweep, or a shard of it, and goes on with one that was interrupted. The rows come in the order of the grid and
// are the same for any crew, however often the sweep was interrupted.
//
// Every point is an independent simulation. What points share is read only: the job's text, read once with what is set
// for all points, and the machines, models and devices that jobs name. Topologies go from one point to the next that
// runs on the same nodes and fabric.
class SweepRun {
  public:
    // Checks all that can be checked before the first point runs. Throws std::invalid_argument (points_of), ConfigError
    // (a job file that cannot be read). `request` must outlive this.
    explicit SweepRun(const SweepRequest& request);

    const SweepInputs& inputs() const { return inputs_; }

    // Evaluates with `crew` what the journal does not have. Where the crew leads, the rows done and, with `out`, the
    // journal of them, which is the caller's to remove; nothing where others lead.
    struct Outcome {
        RowHeader header;
        RowsByNumber rows{};  // all of the shard's, unless `stopped`
        std::size_t resumed = 0;
        std::unique_ptr<Journal> journal{};

        bool is_complete() const { return rows.size() == rows_of(header.points, header.shard); }
        std::size_t without_result() const;
        ResultTable table() const;
    };
    Outcome run(Crew& crew, const SweepSettings& settings) const;

  private:
    // `point` of the grid. The user's mistakes, and memory, are reasons. Any thread may ask.
    Row evaluate(std::size_t point) const;

    const SweepRequest& request_;
    std::vector<std::size_t> points_;  // of the grid, by row number
    SweepInputs inputs_;
    Document job_;
    StudySources sources_;
    mutable TopologyPool topologies_;
};

// A sweep as a job array of Slurm: one shard a task, and a job behind them that merges. `sweep`: the job or sweep file;
// `options`: of weft sweep, for each shard. Writes the script of tools/slurm beside the shards, in `out`.shards, and
// gives it to sbatch, which says on stdout what became of it. Throws std::runtime_error: there is no sbatch, or it
// refuses.
void submit_to_slurm(const std::string& sweep, const std::filesystem::path& out, std::size_t shards,
                     const std::vector<std::string>& options);

}  // namespace weft
