// Writes a file on a thread of its own, compressed if asked, so that one core formats the next block while another
// hands this one to the system. As AtomicFile: the whole file or nothing.
#pragma once

#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "sim/io/files.hpp"

namespace weft {

class BackgroundWriter {
  public:
    explicit BackgroundWriter(const std::filesystem::path& path);  // compressed if the name ends in .gz
    ~BackgroundWriter();

    // Takes a block, in order, and gives back the one before, which is written, to write over.
    std::string exchange(std::string full);
    // After the last block. Throws std::runtime_error if anything could not be written.
    void commit();

  private:
    class GzipStream;

    std::string written();  // the block under way, once it is; empty if there is none

    AtomicFile file_;
    std::unique_ptr<GzipStream> gzip_;
    std::exception_ptr failure_;          // after it blocks are dropped
    std::future<std::string> under_way_;  // last: it uses the file
};

}  // namespace weft
