// Tables under tests/models/data: '#' lines name the source, then a header, then rows; fields may be quoted.
#pragma once

#include <cstdint>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/csv.hpp"

namespace weft::testing {

struct Row {
    test::CsvRow fields;

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

inline std::vector<Row> read_table(const std::string& name) {
    std::vector<Row> rows;
    for (test::CsvRow& fields : test::read_csv(std::string(WEFT_TEST_DATA) + "/models/data/" + name)) {
        rows.push_back({std::move(fields)});
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
