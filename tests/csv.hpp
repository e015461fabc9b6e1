// Reads the small tables that tests compare with: '#' lines are comments, the first other line names the columns.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::test {

inline std::vector<std::string> split_csv(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else if (c != '\r') {
            cells.back() += c;
        }
    }
    return cells;
}

using CsvRow = std::map<std::string, std::string>;

inline std::vector<CsvRow> read_csv(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::vector<std::string> columns;
    std::vector<CsvRow> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        const std::vector<std::string> cells = split_csv(line);
        if (columns.empty()) {
            columns = cells;
            continue;
        }
        CsvRow row;
        for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = cells.at(i);  // a short row is a mistake
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace weft::test
