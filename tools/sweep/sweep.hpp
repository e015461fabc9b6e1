// Runs a sweep, or a shard of it, and goes on with one that was interrupted. The rows come in the order of the grid and
// are the same for any crew, however often the sweep was interrupted.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "tools/output/result_table.hpp"
#include "tools/sweep/crew.hpp"
#include "tools/sweep/journal.hpp"
#include "tools/sweep/request.hpp"

namespace weft {

struct SweepSettings {
    std::optional<std::filesystem::path> out;  // beside it the journal is kept; absent: none is
    Resume resume = Resume::no;
    SweepShard shard;
    std::function<bool()> stopped = [] { return false; };
    // From any thread, one at a time; first with those that the journal has.
    std::function<void(std::size_t done, std::size_t rows)> progress = [](std::size_t, std::size_t) {};
};

class SweepRun {
  public:
    // Checks all that can be checked before the first point runs. Throws std::invalid_argument (points_of), ConfigError
    // (a job file that cannot be read). `request` must outlive this.
    explicit SweepRun(const SweepRequest& request);

    std::size_t points() const { return points_.size(); }
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

}  // namespace weft
