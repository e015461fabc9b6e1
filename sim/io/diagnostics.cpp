#include "sim/io/diagnostics.hpp"

#include <algorithm>
#include <tuple>

namespace weft {
namespace {

auto place(const Diagnostic& d) { return std::tie(d.file, d.line, d.column, d.key, d.message); }

// Sorted by place; what was said twice at one place is kept once.
std::vector<Diagnostic> in_order(std::vector<Diagnostic> diagnostics) {
    const auto same = [](const Diagnostic& a, const Diagnostic& b) { return place(a) == place(b); };
    std::stable_sort(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
    diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end(), same), diagnostics.end());
    return diagnostics;
}

std::string all_lines(const std::vector<Diagnostic>& diagnostics) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) text += (text.empty() ? "" : "\n") + to_text(diagnostic);
    return text;
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
    std::string text;
    if (!diagnostic.file.empty()) text += diagnostic.file + ":";
    if (diagnostic.line > 0) text += std::to_string(diagnostic.line) + ":";
    if (diagnostic.line > 0 && diagnostic.column > 0) text += std::to_string(diagnostic.column) + ":";
    text += text.empty() ? "error: " : " error: ";
    if (!diagnostic.key.empty()) text += diagnostic.key + ": ";
    return text + diagnostic.message;
}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(all_lines(in_order(diagnostics))), diagnostics_(in_order(std::move(diagnostics))) {}

}  // namespace weft
