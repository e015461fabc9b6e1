
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "sim/io/files.hpp"
#include "sim/io/shipped.hpp"
#include "tools/validate/run.hpp"
#include "topologies/measurements/measurement.hpp"
#include "workloads/formats/format.hpp"

namespace weft {
namespace {

std::optional<double> read_bound(Field& bounds, std::string_view key) {
    if (!bounds.has(key)) return std::nullopt;
    const double bound = bounds.number(key);
    if (bound > 0) return bound;
    bounds.error(key, "expected a relative error above 0, such as 0.08");
    return std::nullopt;
}

ErrorBounds read_bounds(Field& root, std::string_view key) {
    ErrorBounds bounds;
    if (!root.has(key)) return bounds;
    Field field = root.object(key);
    bounds.mean = read_bound(field, "mean");
    bounds.median = read_bound(field, "median");
    bounds.percentile_90 = read_bound(field, "p90");
    bounds.largest = read_bound(field, "max");
    field.done();
    return bounds;
}

bool promises(const ErrorBounds& bounds) {
    return bounds.mean || bounds.median || bounds.percentile_90 || bounds.largest;
}

// Everything but the rows; `rows`: the file of the table, as written.
ValidationSet read_head(Document& document, std::string& rows) {
    Field root = document.root();
    const std::filesystem::path path(document.name());
    ValidationSet set{.name = path.stem().string(),
                      .path = path.string(),
                      .title = root.text("title"),
                      .source = root.text("source"),
                      .bounds = read_bounds(root, "bounds"),
                      .residual_bounds = read_bounds(root, "residual_bounds")};
    rows = root.text("rows", set.name + ".csv");
    set.assumptions = list_of<std::string>(root.list_if_given("assumptions"), &Field::as_text);
    set.fits = list_of<std::string>(root.list_if_given("fits"), &Field::as_text);
    set.cause = root.text("cause", "");
    root.object("job");
    root.done();
    return set;
}

constexpr std::string_view measured_prefix = "measured.";

// Lines that begin with '#' are comments. Throws ConfigError with every mistake (20 at most) and its line.
class TableReader {
  public:
    TableReader(const std::string& path, std::string_view text)
        : text_(split_lines(path, text)), errors_(path), csv_(read_csv_table(text_, errors_)) {}

    std::vector<ValidationRow> read() {
        check_columns();
        auto rows = list_of<ValidationRow>(csv_.rows, [&](const CsvRow& row) { return read_row(row); });
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

// `table` finds the text of a table by the name that the set calls it, and says where it is.
struct TableFile {
    std::string path, text;
};
template <class FindTable>
ValidationSet read_set(Document document, FindTable find_table) {
    std::string rows;
    ValidationSet set = read_head(document, rows);
    document.check();
    set.job = nlohmann::ordered_json::parse(document.text()).at("job").dump();
    const TableFile table = find_table(rows);
    set.table_path = table.path;
    set.rows = TableReader(table.path, table.text).read();
    const auto marked = [&set](RowUse use) {
        return std::ranges::any_of(set.rows, [use](const ValidationRow& row) { return row.use == use; });
    };
    Field root = document.root();
    if (promises(set.bounds) && !marked(RowUse::predict)) root.error("bounds", "no row is marked predict");
    if (promises(set.residual_bounds) && !marked(RowUse::fit)) root.error("residual_bounds", "no row is marked fit");
    document.check();
    return set;
}

TableFile shipped_table(const std::string& rows) {
    const std::string stem = std::filesystem::path(rows).stem().string();
    for (const embedded::File& file : embedded::validation_tables()) {
        if (file.name == stem) return {std::string(file.path), std::string(file.text)};
    }
    refuse_file({}, "no table \"" + rows + "\" is shipped");
}

}  // namespace

ValidationSet load_validation_set(std::string_view name) {
    if (!is_path(name)) {
        return read_set(open_shipped(embedded::validation(), "validation set", name).document, shipped_table);
    }
    const std::filesystem::path path(name);
    return read_set(Document::read(path), [&path](const std::string& rows) {
        const std::filesystem::path table = path.parent_path() / rows;
        return TableFile{table.string(), read_text(table)};
    });
}

std::string cause_of_errors(std::string_view set) {
    std::optional<NamedDocument> shipped = find_shipped(embedded::validation(), set);
    return shipped ? shipped->document.root().text("cause", "") : "";
}

ValidationSet read_validation_set(const std::string& path, std::string text, const std::string& table_path,
                                  std::string_view table) {
    return read_set(Document::parse(path, std::move(text)), [&](const std::string&) {
        return TableFile{table_path, std::string(table)};
    });
}

std::vector<std::string> validation_set_names() { return shipped_names(embedded::validation()); }

}  // namespace weft
