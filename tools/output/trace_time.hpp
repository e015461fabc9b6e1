// The clock as Chrome's traces tell it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/instant.hpp"
#include "tools/output/text_stream.hpp"

namespace weft {

inline std::int64_t nanoseconds(Instant t) { return (t.femtoseconds + 500'000) / 1'000'000; }

// Microseconds with three decimals, straight from the integer: a double would round late times.
class TraceTime {
  public:
    explicit TraceTime(std::int64_t nanoseconds) : whole_(static_cast<std::uint64_t>(nanoseconds / 1000)) {
        const auto rest = static_cast<int>(nanoseconds % 1000);
        decimals_[1] = static_cast<char>('0' + rest / 100);
        decimals_[2] = static_cast<char>('0' + rest / 10 % 10);
        decimals_[3] = static_cast<char>('0' + rest % 10);
    }
    std::string_view whole() const { return {whole_.data(), whole_.size()}; }
    std::string_view decimals() const { return {decimals_, sizeof decimals_}; }

  private:
    fmt::format_int whole_;
    char decimals_[4] = {'.', '0', '0', '0'};
};

inline std::string microseconds(std::int64_t nanoseconds) {
    const TraceTime time(nanoseconds);
    return std::string(time.whole()).append(time.decimals());
}

template <class Out>
Out& put_time(Out& out, std::int64_t nanoseconds) {
    const TraceTime time(nanoseconds);
    return out.put(time.whole()).put(time.decimals());
}

}  // namespace weft
