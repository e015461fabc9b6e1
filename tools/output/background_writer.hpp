// Writes a file on a thread of its own, compressed if asked, so that one core formats the next block while another
// hands this one to the system. As AtomicFile: the whole file or nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/io/files.hpp"

namespace weft {

// A gzip file of `text`, without name and date: the same text gives the same bytes.
std::string gzip(std::string_view text);

// The same piece by piece.
class GzipStream {
  public:
    GzipStream();
    ~GzipStream();

    // The compressed bytes that are ready; most come later, or at the end.
    std::string add(std::string_view piece);
    std::string finish();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

enum class Packing : std::uint8_t { none, gzip };

class BackgroundWriter {
  public:
    BackgroundWriter(const std::filesystem::path& path, Packing packing);
    BackgroundWriter(const BackgroundWriter&) = delete;
    BackgroundWriter& operator=(const BackgroundWriter&) = delete;
    ~BackgroundWriter();

    // Takes a block, in order, and gives back one of at least its size to fill. Waits while too many are not written.
    std::string exchange(std::string full);
    // After the last block. Throws std::runtime_error if anything could not be written.
    void commit();

  private:
    static constexpr std::size_t most_waiting = 4;

    void work(Packing packing);
    void write_waiting(std::unique_lock<std::mutex>& lock, auto write);
    void close();

    AtomicFile file_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> waiting_, used_;  // blocks, first in first out; and those to fill again
    bool is_closed_ = false;                   // no more blocks will come
    std::exception_ptr failure_;               // after it blocks are dropped
    std::thread thread_;                       // last: it uses all of the above
};

}  // namespace weft
