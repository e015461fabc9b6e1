#include "sim/io/diagnostics.hpp"

#include <algorithm>
#include <tuple>

#include "sim/base/lists.hpp"

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

namespace {

// Damerau-Levenshtein (optimal string alignment): insertions, deletions, substitutions, swaps of neighbours.
// Row by row over the table  d(i, j) = distance of the first i letters of a and the first j of b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    auto above = numbers_below<std::size_t>(b.size() + 1);
    std::vector<std::size_t> before, row(above.size());
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = above;
        std::swap(above, row);
    }
    return above[b.size()];
}

constexpr std::size_t telling_prefix = 3;  // "sim" for "simulate": that many letters of a beginning say what was meant

}  // namespace

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known) {
    std::vector<std::pair<std::size_t, std::string>> near;
    constexpr std::size_t most = 256;  // letters: distances take the product of both
    for (const std::string& candidate : known) {
        if (std::max(name.size(), candidate.size()) > most) continue;
        const bool begun = name.size() >= telling_prefix && candidate.starts_with(name);
        std::size_t distance = edit_distance(name, candidate);
        if (begun) distance = std::min(distance, std::size_t{1});
        const std::size_t longer = std::max(name.size(), candidate.size());  // at that distance, no letter is the same
        if (distance <= std::max(name.size() / 3, std::size_t{2}) && distance < longer) {
            near.emplace_back(distance, candidate);
        }
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    near.resize(std::min<std::size_t>(near.size(), 3));
    return list_of<std::string>(near, [](const auto& each) { return each.second; });
}

std::string_view key_meant(std::string_view word, std::span<const Synonym> synonyms) {
    std::string plain;
    for (const char c : word.substr(std::min(word.find_first_not_of('-'), word.size()))) {
        plain += c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    const auto has_it = [&](const Synonym& synonym) {
        return (" " + std::string(synonym.word) + " ").find(" " + plain + " ") != std::string::npos;
    };
    const auto found = std::ranges::find_if(synonyms, has_it);
    return found == synonyms.end() ? std::string_view() : found->key;
}

std::string did_you_mean(std::span<const std::string> names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? ", did you mean \"" : " or \"") + name + "\"";
    return text.empty() ? text : text + "?";
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
    return did_you_mean(nearest(name, known));
}

std::vector<std::string> suggested_names(std::string_view message) {
    std::vector<std::string> names;
    std::size_t begin = message.find(", did you mean \"");
    for (begin = message.find('"', begin); begin != std::string_view::npos; begin = message.find('"', begin)) {
        const std::size_t end = message.find('"', ++begin);
        if (end == std::string_view::npos) break;
        names.emplace_back(message.substr(begin, end - begin));
        begin = end + 1;
        if (!message.substr(begin).starts_with(" or ")) break;
    }
    return names;
}

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_separator(char c) { return std::string_view(" \t\r\n,:]}").find(c) != std::string_view::npos; }

// `at` is the opening quote; the offset behind the closing one.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
    }
    return at + 1;
}

// `at` is a slash.
std::size_t end_of_comment(std::string_view text, std::size_t at) {
    const std::string_view opening = text.substr(at, 2);
    const std::string_view closing = opening == "//" ? "\n" : opening == "/*" ? "*/" : "";
    const std::size_t found = text.find(closing, at + 2);
    return closing.empty() ? at + 1 : found == std::string_view::npos ? text.size() : found + closing.size();
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
    return std::min(text.find_first_of(" \t\r\n,:[]{}\"/", at), text.size());
}

}  // namespace

TextPosition position_at(std::string_view text, std::size_t offset) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
    std::string_view line = before.substr(line_start);
    if (line_start == 0 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    const auto characters = std::count_if(line.begin(), line.end(),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
    return {.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            .column = static_cast<int>(characters) + 1};
}

std::vector<std::size_t> lexeme_offsets(std::string_view text) {
    std::vector<std::size_t> offsets;
    std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
    while (at < text.size()) {
        const char c = text[at];
        if (is_separator(c)) {
            ++at;
        } else if (c == '/') {
            at = end_of_comment(text, at);
        } else {
            offsets.push_back(at);
            at = c == '"' ? end_of_string(text, at) : c == '{' || c == '[' ? at + 1 : end_of_word(text, at);
        }
    }
    return offsets;
}

}  // namespace weft
