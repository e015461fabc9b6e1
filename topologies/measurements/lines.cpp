#include "topologies/measurements/lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace weft {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

}  // namespace

TableText split_lines(std::string file, std::string_view text) {
    TableText table{.file = std::move(file), .comments = {}, .lines = {}};
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        const std::size_t begin = line.find_first_not_of(blanks);
        if (begin == line.npos) continue;
        line = line.substr(0, line.find_last_not_of(blanks) + 1);
        (line[begin] == '#' ? table.comments : table.lines).push_back({number, line});
    }
    return table;
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    while (true) {
        const std::size_t begin = text.find_first_not_of(blanks);
        if (begin == text.npos) return found;
        text.remove_prefix(begin);
        const std::size_t end = std::min(text.find_first_of(blanks), text.size());
        found.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

std::optional<double> to_number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::string letters(std::string_view text) {
    std::string kept;
    for (const char c : text) {
        if (c >= 'A' && c <= 'Z') kept += static_cast<char>(c + ('a' - 'A'));
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) kept += c;
    }
    return kept;
}

std::string excerpt(std::string_view text) {
    constexpr std::size_t most = 40;
    std::string shown;
    for (const char c : text.substr(0, most)) shown += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > most ? shown + "..." : shown;
}

void TableErrors::add(int line, int column, std::string message) {
    if (is_full()) return;
    errors_.push_back(
        {.file = file_, .line = line, .column = line > 0 ? column : 0, .key = {}, .message = std::move(message)});
}

void TableErrors::check() const {
    if (!errors_.empty()) throw ConfigError(errors_);
}

void TableErrors::fail(int line, std::string message) {
    errors_.push_back(
        {.file = file_, .line = line, .column = line > 0 ? 1 : 0, .key = {}, .message = std::move(message)});
    throw ConfigError(errors_);
}

}  // namespace weft
