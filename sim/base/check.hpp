// Invariants that are always on, and the two kinds of failure: ours (LogicError) and the model's (RangeError).
// The user's mistakes are ConfigErrors (sim/io/diagnostics.hpp).
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace weft {

// An error that takes the format of its message and what stands in it.
template <class Error>
struct Formatted : Error {
    using Error::Error;
    template <class First, class... Rest>
    explicit Formatted(fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest)
        : Error(fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

struct LogicError : std::logic_error {
    using std::logic_error::logic_error;
};
struct RangeError : Formatted<std::runtime_error> {
    using Formatted::Formatted;
};

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line, const std::string& message) {
    throw LogicError(std::string(file) + ":" + std::to_string(line) + ": check failed: " + condition +
                     (message.empty() ? "" : ": " + message));
}

}  // namespace weft

// WEFT_CHECK(condition, "message"): a broken invariant of ours; throws LogicError (exit code 70). Never off.
#define WEFT_CHECK(condition, message) \
    ((condition) ? static_cast<void>(0) : ::weft::check_failed(#condition, __FILE__, __LINE__, message))
