// Mistakes of a file that another one names.
#pragma once

#include <string_view>

#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"

namespace weft {

// Records them at the key that leads to the file, each with its own place if it has one.
inline void error_at(Field& field, std::string_view key, const ConfigError& error) {
    for (const Diagnostic& inner : error.diagnostics()) {
        field.error(key, inner.line > 0 ? to_text(inner) : inner.message);
    }
}

}  // namespace weft
