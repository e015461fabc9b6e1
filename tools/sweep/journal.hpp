// What a sweep has done so far, on disk, row by row as they are finished. What was written more than a second ago
// outlives a power cut, everything written a kill.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "tools/sweep/row_file.hpp"

namespace weft {

enum class Resume : std::uint8_t { no, yes };

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

}  // namespace weft
