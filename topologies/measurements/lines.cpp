#include "topologies/measurements/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/texts.hpp"

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
    const std::optional<double> value = parse_as<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
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

std::optional<CsvRow> read_csv_row(const TableLine& line) {
    CsvRow row{.line = line.number, .cells = {""}, .places = {1}};
    bool quoted = false;
    for (std::size_t i = 0; i < line.text.size(); ++i) {
        const char c = line.text[i];
        if (quoted && c == '"' && i + 1 < line.text.size() && line.text[i + 1] == '"') {
            row.cells.back() += line.text[++i];
        } else if (c == '"' && (quoted || row.cells.back().empty())) {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            row.cells.emplace_back();
            row.places.push_back(static_cast<int>(i) + 2);
        } else {
            row.cells.back() += c;
        }
    }
    return quoted ? std::nullopt : std::optional(std::move(row));
}

std::optional<std::size_t> CsvTable::find(std::string_view column) const {
    const auto found = std::find(columns.begin(), columns.end(), column);
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
}

CsvTable read_csv_table(const TableText& text, TableErrors& errors) {
    CsvTable table;
    for (const TableLine& line : text.lines) {
        std::optional<CsvRow> row = read_csv_row(line);
        if (!row) {
            errors.add(line.number, "a quotation mark is open at the end of the line");
        } else if (&line == &text.lines.front()) {
            for (std::string& name : row->cells) {
                name = lower_case(name);
                if (!name.empty() && table.find(name)) {
                    errors.add(line.number, fmt::format("two columns are called \"{}\"", excerpt(name)));
                }
                table.columns.push_back(std::move(name));
            }
        } else if (row->cells.size() != table.columns.size()) {
            errors.add(line.number,
                       fmt::format("expected {} columns, got {}", table.columns.size(), row->cells.size()));
        } else {
            table.rows.push_back(std::move(*row));
        }
    }
    return table;
}

}  // namespace weft
