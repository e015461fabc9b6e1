#include "topologies/measurements/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    return text;
}

}  // namespace

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
                name = lower(std::move(name));
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
