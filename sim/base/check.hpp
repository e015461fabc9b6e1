// Invariants that are always on, and the two kinds of failure: ours (LogicError) and the model's (RangeError).
// The user's mistakes are ConfigErrors (sim/io/diagnostics.hpp).
#pragma once

#include <stdexcept>
#include <string>

namespace weft {

struct LogicError : std::logic_error {
    using std::logic_error::logic_error;
};
struct RangeError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line, const std::string& message) {
    throw LogicError(std::string(file) + ":" + std::to_string(line) + ": check failed: " + condition +
                     (message.empty() ? "" : ": " + message));
}

}  // namespace weft

// WEFT_CHECK(condition, "message"): a broken invariant of ours; throws LogicError (exit code 70). Never off.
#define WEFT_CHECK(condition, message) \
    ((condition) ? static_cast<void>(0) : ::weft::check_failed(#condition, __FILE__, __LINE__, message))
