// Files of long texts, block by block: what formats millions of lines neither holds them all nor calls a formatter for
// each.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <future>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "sim/io/files.hpp"

namespace weft {

// Writes a file on a thread of its own, so that one core formats the next block while another hands this one to the
// system; or packs it, on as many threads as that takes, always to the same bytes. As AtomicFile: the whole file or
// nothing.
class TextStream {
  public:
    static constexpr std::size_t usual_block = std::size_t{1} << 20;

    // Packed if the name ends in .gz. `block`: below 4 GiB.
    explicit TextStream(const std::filesystem::path& path, std::size_t block = usual_block);

    TextStream& put(std::string_view text) {
        text_ += text;
        if (text_.size() >= block_) hand_over();
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

    // Without it nothing is written. Throws std::runtime_error if anything could not be written.
    void commit();

  private:
    struct Block {
        std::string text, packed{};
        std::uint32_t sum = 0;  // CRC-32 of the text
    };

    void hand_over();
    std::string written();  // the oldest block under way, once it is, to write over

    std::size_t block_;
    std::string text_;
    AtomicFile file_;
    bool is_packed_ = false;
    std::uint32_t sum_ = 0;  // of all that is written packed, and how much that was
    std::uint64_t size_ = 0;
    std::exception_ptr failure_;                // after it blocks are dropped
    std::deque<std::future<Block>> under_way_;  // last: it uses the file
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
