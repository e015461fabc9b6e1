// Long texts, block by block: what formats millions of lines neither holds them all nor calls a formatter for each.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/instant.hpp"

namespace weft {

// Text put where there is room for it already.
class TextCursor {
  public:
    explicit TextCursor(char* at) : at_(at) {}

    TextCursor& put(std::string_view text) {
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
        return *this;
    }
    TextCursor& put(std::uint64_t number) {
        const fmt::format_int digits(number);
        return put(std::string_view(digits.data(), digits.size()));
    }
    char* at() const { return at_; }

  private:
    char* at_;
};

class TextStream {
  public:
    static constexpr std::size_t block = std::size_t{1} << 20;
    // Takes a block and gives back one to fill; what is in that does not matter.
    using Sink = std::function<std::string(std::string)>;

    explicit TextStream(Sink sink) : sink_(std::move(sink)), text_(block, '\0') {}

    TextStream& put(std::string_view text) {
        while (text.size() > text_.size() - used_) {
            const std::size_t fits = text_.size() - used_;
            copy(text.substr(0, fits));
            text.remove_prefix(fits);
            flush();
        }
        copy(text);
        return *this;
    }
    TextStream& put(std::uint64_t number) {
        const fmt::format_int digits(number);
        return put(std::string_view(digits.data(), digits.size()));
    }
    template <class... Args>
    TextStream& format(fmt::format_string<Args...> format, Args&&... args) {
        fmt::memory_buffer line;
        fmt::format_to(std::back_inserter(line), format, std::forward<Args>(args)...);
        return put(std::string_view(line.data(), line.size()));
    }
    // Room for `bytes` < block in one piece, from the end of what was put; what is filled counts from end_at() on.
    TextCursor room(std::size_t bytes) {
        if (bytes > text_.size() - used_) flush();
        return TextCursor(text_.data() + used_);
    }
    void end_at(const TextCursor& cursor) { used_ = static_cast<std::size_t>(cursor.at() - text_.data()); }
    // Hands over what is left. Must be called last.
    void flush() {
        text_.resize(used_);
        text_ = sink_(std::move(text_));
        if (text_.size() < block) text_.resize(block);
        used_ = 0;
    }

  private:
    void copy(std::string_view text) {
        std::memcpy(text_.data() + used_, text.data(), text.size());
        used_ += text.size();
    }

    Sink sink_;
    std::string text_;
    std::size_t used_ = 0;
};

// The clock as Chrome's traces tell it: microseconds with three decimals, straight from the integer, since a double
// would round late times.
template <class Out>
Out& put_time(Out& out, std::int64_t nanoseconds) {
    const fmt::format_int decimals(1000 + nanoseconds % 1000);  // behind the one
    return out.put(static_cast<std::uint64_t>(nanoseconds / 1000))
        .put(".")
        .put(std::string_view(decimals.data() + 1, 3));
}

}  // namespace weft
