#include "tools/library/errors.hpp"

#include <utility>

namespace weft::library {

InputError::InputError(const std::string& what, std::vector<Mistake> mistakes)
    : std::runtime_error(what), mistakes_(std::move(mistakes)) {}

std::vector<Mistake> mistakes_of(const ConfigError& error) {
    std::vector<Mistake> mistakes;
    for (const Diagnostic& each : error.diagnostics()) {
        mistakes.push_back({.file = each.file,
                            .line = each.line,
                            .column = each.column,
                            .key = each.key,
                            .message = each.message,
                            .suggestions = suggested_names(each.message)});
    }
    return mistakes;
}

}  // namespace weft::library
