#include "tools/validate/set_table.hpp"

#include <fmt/format.h>

#include <map>

#include "tools/validate/quantity.hpp"
#include "topologies/measurements/csv_table.hpp"

namespace weft {
namespace {

constexpr std::string_view measured_prefix = "measured.";

class TableReader {
  public:
    TableReader(const std::string& path, std::string_view text)
        : text_(split_lines(path, text)), errors_(path), csv_(read_csv_table(text_, errors_)) {}

    std::vector<ValidationRow> read() {
        check_columns();
        std::vector<ValidationRow> rows;
        for (const CsvRow& row : csv_.rows) rows.push_back(read_row(row));
        if (rows.empty()) errors_.add(0, "a table of measurements without a row");
        errors_.check();
        return rows;
    }

  private:
    void check_columns() {
        if (text_.lines.empty()) errors_.fail(0, "expected a line of column names, got nothing");
        const int line = text_.lines.front().number;
        for (const std::string_view needed : {"name", "use"}) {
            if (!csv_.find(needed)) errors_.add(line, fmt::format("no column is called \"{}\"", needed));
        }
        bool measures = false;
        for (const std::string& column : csv_.columns) {
            if (column.empty()) errors_.add(line, "a column without a name");
            if (!column.starts_with(measured_prefix)) continue;
            measures = true;
            const std::string quantity = column.substr(measured_prefix.size());
            if (const std::string why = quantity_obstacle(quantity); !why.empty()) errors_.add(line, why);
        }
        if (!measures) errors_.add(line, "no column begins with \"measured.\", such as measured.step_s");
    }

    ValidationRow read_row(const CsvRow& cells) {
        ValidationRow row;
        row.line = cells.line;
        for (std::size_t c = 0; c < csv_.columns.size(); ++c) {
            const std::string& column = csv_.columns[c];
            const std::string& cell = cells.cells[c];
            if (column == "name") {
                row.name = cell;
            } else if (column == "use") {
                row.use = read_use(cells.line, cell);
            } else if (column == "note") {
                row.note = cell;
            } else if (column == "disturbed") {
                row.disturbed = cell;
            } else if (cell.empty()) {
                continue;
            } else if (column.starts_with(measured_prefix)) {
                row.measured.push_back({column.substr(measured_prefix.size()), read_number(cells.line, column, cell)});
            } else {
                row.cells.push_back({column, cell});
            }
        }
        if (!row.disturbed.empty()) row.use = RowUse::disturbed;
        check_name(row);
        if (row.measured.empty()) errors_.add(row.line, fmt::format("\"{}\": nothing measured", excerpt(row.name)));
        return row;
    }

    RowUse read_use(int line, const std::string& cell) {
        if (cell != "fit" && cell != "predict") {
            errors_.add(line, fmt::format("use: expected fit or predict, got \"{}\"", excerpt(cell)));
        }
        return cell == "fit" ? RowUse::fit : RowUse::predict;
    }

    double read_number(int line, const std::string& column, const std::string& cell) {
        const std::optional<double> value = to_number(cell);
        if (value && *value > 0) return *value;
        errors_.add(line, fmt::format("{}: expected a number above 0, got \"{}\"", column, excerpt(cell)));
        return 1.0;
    }

    void check_name(const ValidationRow& row) {
        if (row.name.empty()) return errors_.add(row.line, "a row without a name");
        const auto [first, fresh] = names_.try_emplace(row.name, row.line);
        if (fresh) return;
        errors_.add(row.line, fmt::format("\"{}\" is the name of line {}, too", excerpt(row.name), first->second));
    }

    TableText text_;
    TableErrors errors_;
    CsvTable csv_;
    std::map<std::string, int> names_;
};

}  // namespace

std::vector<ValidationRow> read_set_table(const std::string& path, std::string_view text) {
    return TableReader(path, text).read();
}

}  // namespace weft
