// Files of long texts, block by block: what formats millions of lines neither holds them all nor calls a formatter for
// each.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sim/io/files.hpp"

namespace weft {

// Writes a file on a thread of its own, compressed if asked, so that one core formats the next block while another
// hands this one to the system. As AtomicFile: the whole file or nothing.
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

class TextStream {
  public:
    static constexpr std::size_t block = std::size_t{1} << 20;

    explicit TextStream(const std::filesystem::path& path) : file_(path) {}  // compressed if the name ends in .gz

    TextStream& put(std::string_view text) {
        text_ += text;
        if (text_.size() >= block) hand_over();
        return *this;
    }
    TextStream& put(std::uint64_t number) {
        const fmt::format_int digits(number);
        return put(std::string_view(digits.data(), digits.size()));
    }
    template <class... Args>
    TextStream& format(fmt::format_string<Args...> format, Args&&... args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
        return put("");
    }
    // Without it nothing is written. Throws std::runtime_error as BackgroundWriter.
    void commit() {
        hand_over();
        file_.commit();
    }

  private:
    void hand_over() {
        text_ = file_.exchange(std::move(text_));
        text_.clear();
    }

    BackgroundWriter file_;
    std::string text_;
};

// The clock as Chrome's traces tell it: microseconds with three decimals, straight from the integer, since a double
// would round late times.
template <class Out>
Out& put_time(Out& out, std::int64_t nanoseconds) {
    const fmt::format_int decimals(1000 + nanoseconds % 1000);  // behind the one
    out.put(static_cast<std::uint64_t>(nanoseconds / 1000)).put(".");
    return out.put(std::string_view(decimals.data() + 1, 3));
}

}  // namespace weft
