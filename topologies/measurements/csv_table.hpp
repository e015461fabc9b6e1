// Rows of a CSV file by the names of their columns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/measurements/lines.hpp"

namespace weft {

struct CsvRow {
    int line = 0;
    std::vector<std::string> cells{};
    std::vector<int> places{};  // where each begins on its line, from 1
};

// RFC 4180, a record per line. Nothing if a quotation is still open at its end.
std::optional<CsvRow> read_csv_row(const TableLine& line);

struct CsvTable {
    std::vector<std::string> columns;  // in lower case
    std::vector<CsvRow> rows;          // each of so many cells

    std::optional<std::size_t> find(std::string_view column) const;
};

// The first line has the names. Errors: an open quotation, a row of another length, a
// name that stands there twice.
CsvTable read_csv_table(const TableText& text, TableErrors& errors);

}  // namespace weft
