// What a sweep has done so far, on disk, row by row as they are finished. What was written more than a second ago
// outlives a power cut, everything written a kill.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/output/result_table.hpp"
#include "tools/sweep/crew.hpp"
#include "tools/sweep/request.hpp"
#include "tools/sweep/row_file.hpp"

namespace weft {

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

    std::filesystem::path path_;
    int descriptor_ = -1;
    RowsByNumber done_;
    std::chrono::steady_clock::time_point synced_{};  // the beginning of the last time
};

// Runs a sweep, or a shard of it, and goes on with one that was interrupted. The rows come in the order of the grid and
// are the same for any crew, however often the sweep was interrupted.
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
        RowsByNumber rows;  // all of the shard's, unless `stopped`
        std::size_t resumed = 0;
        std::unique_ptr<Journal> journal;

        bool is_complete() const { return rows.size() == rows_of(header.points, header.shard); }
        std::size_t without_result() const;
        ResultTable table() const;
    };
    Outcome run(Crew& crew, const SweepSettings& settings) const;

  private:
    const SweepRequest& request_;
    std::vector<std::size_t> points_;  // of the grid, by row number
    SweepInputs inputs_;
};

// A sweep as a job array of Slurm: one shard a task, and a job behind them that merges.
struct Submission {
    std::filesystem::path sweep, out;  // job or sweep file, table to write
    std::uint32_t shards = 1;
    std::vector<std::string> options;  // of weft sweep, for each shard
};

// Writes the script of tools/slurm beside the shards, in `out`.shards, and gives it to sbatch, which says on stdout
// what became of it. Throws std::runtime_error: there is no sbatch, or it refuses.
void submit_to_slurm(const Submission& submission);

}  // namespace weft
