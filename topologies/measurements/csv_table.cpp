#include "topologies/measurements/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft {
namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    return text;
}

// Nothing if a quotation is still open at the end.
std::optional<std::vector<std::string>> split_cells(std::string_view line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
            cells.back() += line[++i];
        } else if (c == '"' && (quoted || cells.back().empty())) {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else {
            cells.back() += c;
        }
    }
    return quoted ? std::nullopt : std::optional(std::move(cells));
}

}  // namespace

std::optional<std::size_t> CsvTable::find(std::string_view column) const {
    const auto found = std::find(columns.begin(), columns.end(), column);
    if (found == columns.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns.begin());
}

CsvTable read_csv_table(const TableText& text, TableErrors& errors) {
    CsvTable table;
    for (const TableLine& line : text.lines) {
        std::optional<std::vector<std::string>> cells = split_cells(line.text);
        if (!cells) {
            errors.add(line.number, "a quotation mark is open at the end of the line");
        } else if (&line == &text.lines.front()) {
            for (std::string& name : *cells) {
                name = lower(std::move(name));
                if (!name.empty() && table.find(name)) {
                    errors.add(line.number, fmt::format("two columns are called \"{}\"", excerpt(name)));
                }
                table.columns.push_back(std::move(name));
            }
        } else if (cells->size() != table.columns.size()) {
            errors.add(line.number, fmt::format("expected {} columns, got {}", table.columns.size(), cells->size()));
        } else {
            table.rows.push_back({line.number, std::move(*cells)});
        }
    }
    return table;
}

}  // namespace weft
