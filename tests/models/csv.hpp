// Tables under tests/models/data: '#' lines name the source, then a header, then rows; fields may be quoted.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::testing {

struct Row {
    std::map<std::string, std::string> fields;

    const std::string& text(const std::string& column) const {
        const auto field = fields.find(column);
        if (field == fields.end()) throw std::out_of_range("no column " + column);
        return field->second;
    }
    double number(const std::string& column) const { return std::stod(text(column)); }
    std::uint32_t whole(const std::string& column) const {
        return static_cast<std::uint32_t>(std::stoul(text(column)));
    }
};

inline std::ostream& operator<<(std::ostream& out, const Row& row) {
    for (const auto& [column, value] : row.fields) out << column << '=' << value << ' ';
    return out;
}

inline std::vector<std::string> split_fields(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += c;
        }
    }
    return fields;
}

inline std::vector<Row> read_table(const std::string& name) {
    std::ifstream file(std::string(WEFT_TEST_DATA) + "/models/data/" + name);
    if (!file) throw std::runtime_error("no table " + name);
    std::vector<std::string> header;
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        const std::vector<std::string> fields = split_fields(line);
        if (header.empty()) {
            header = fields;
            continue;
        }
        Row row;
        for (std::size_t i = 0; i < header.size(); ++i) row.fields[header[i]] = fields.at(i);
        rows.push_back(row);
    }
    return rows;
}

// A GoogleTest name from any text: "1.3B" becomes "1_3B".
inline std::string test_name(std::string text) {
    for (char& c : text) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!plain) c = '_';
    }
    return text;
}

}  // namespace weft::testing
