// Writes a file on a thread of its own, compressed if asked, so that one core formats the next block while another
// hands this one to the system. As AtomicFile: the whole file or nothing.
#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sim/io/files.hpp"

namespace weft {

class BackgroundWriter {
  public:
    explicit BackgroundWriter(const std::filesystem::path& path);  // compressed if the name ends in .gz
    BackgroundWriter(const BackgroundWriter&) = delete;
    BackgroundWriter& operator=(const BackgroundWriter&) = delete;
    ~BackgroundWriter();

    // Takes a block, in order, and gives back one of at least its size to fill. Waits while too many are not written.
    std::string exchange(std::string full);
    // After the last block. Throws std::runtime_error if anything could not be written.
    void commit();

  private:
    static constexpr std::size_t most_waiting = 4;

    void work(bool packs);
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
