#include "topologies/measurements/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <span>
#include <tuple>

#include "sim/base/texts.hpp"
#include "sim/io/files.hpp"

namespace weft {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

bool has_bus_bandwidth_column(const TableText& text) {
    return std::any_of(text.comments.begin(), text.comments.end(), [](const TableLine& line) {
        return line.text.find("busbw") != line.text.npos && line.text.find("size") != line.text.npos;
    });
}

// Names of columns, not numbers, between commas.
bool begins_as_csv(const TableText& text) {
    if (text.lines.empty()) return false;
    const std::string_view first = text.lines.front().text;
    return first.find(',') != first.npos && !to_number(first.substr(0, first.find(',')));
}

MeasurementTable read_by_format(std::string file, std::string_view text, const MeasurementHints& hints) {
    if (is_json_object(text)) {
        return read_nccl_tests_json(std::move(file), std::string(text), hints);
    }
    const TableText table = split_lines(std::move(file), text);
    TableErrors errors(table.file);
    if (table.lines.empty()) errors.fail(0, "no measurements: the file has no lines besides comments");
    if (begins_as_csv(table)) return read_measurement_csv(table, hints);
    if (osu_heading(table)) return read_osu(table, hints);
    if (has_bus_bandwidth_column(table)) return read_nccl_tests(table, hints);
    errors.fail(table.lines.front().number,
                "expected the output of nccl-tests or of an OSU micro-benchmark with its comment lines, or a CSV "
                "table that begins with the names of its columns; got \"" +
                    excerpt(table.lines.front().text) + "\"");
}

// Each figure is a number above 0, but what comes of it need not be one, as of 1e308 bytes for each of 16 ranks.
void check_numbers(const MeasurementTable& table) {
    TableErrors errors(table.file);
    const auto is_one = [](double number) { return std::isfinite(number) && number > 0.0; };
    for (const CollectiveMeasurement& row : table.rows) {
        if (is_one(row.size.value) && is_one(row.time.value)) continue;
        errors.add(row.line,
                   fmt::format("{} bytes in {} s: no such measurement can be", row.size.value, row.time.value));
    }
    errors.check();
}

bool of_one_part(Collective op, SizeConvention convention) {
    return convention == SizeConvention::osu && (op == Collective::all_gather || op == Collective::all_to_all);
}

bool names_library(std::string_view measured, std::string_view library) {
    return letters(measured).starts_with(letters(library));
}

// Whether a call was measured in several variants. That larger calls name another algorithm is the library's choice.
bool has_several_variants(std::span<const CollectiveMeasurement> rows) {
    std::map<std::tuple<Collective, std::uint32_t, std::uint32_t, double>, std::string_view> variants;
    return std::ranges::any_of(rows, [&](const CollectiveMeasurement& row) {
        const auto known = variants.try_emplace({row.op, row.ranks, row.nodes, row.size.value}, row.variant).first;
        return known->second != row.variant;
    });
}

}  // namespace

TableText split_lines(std::string file, std::string_view text) {
    TableText table{.file = std::move(file), .comments = {}, .lines = {}};
    each_line(text, [&](std::string_view line, int number) {
        const std::size_t begin = line.find_first_not_of(blanks);
        line = line.substr(0, line.find_last_not_of(blanks) + 1);
        if (begin != line.npos) (line[begin] == '#' ? table.comments : table.lines).push_back({number, line});
        return true;
    });
    return table;
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    for (std::size_t begin = text.find_first_not_of(blanks); begin < text.size();) {
        const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
        found.push_back(text.substr(begin, end - begin));
        begin = text.find_first_not_of(blanks, end);
    }
    return found;
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

std::string listing(const std::set<std::string>& texts) {
    constexpr std::size_t most = 12;
    const auto end = std::next(texts.begin(), static_cast<std::ptrdiff_t>(std::min(texts.size(), most)));
    return fmt::format("{}{}", fmt::join(texts.begin(), end, "; "), texts.size() > most ? "; ..." : "");
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

MeasurementTable parse_measurements(std::string file, std::string_view text, const MeasurementHints& hints) {
    MeasurementTable table = read_by_format(std::move(file), text, hints);
    check_numbers(table);
    return table;
}

MeasurementTable read_measurements(const std::filesystem::path& path, const MeasurementHints& hints) {
    return parse_measurements(path.string(), read_text(path), hints);
}

Bytes full_size(Collective op, Bytes size, SizeConvention convention, std::uint32_t members) {
    return of_one_part(op, convention) ? size * members : size;
}

Bytes stated_size(Collective op, Bytes message, SizeConvention convention, std::uint32_t members) {
    return of_one_part(op, convention) ? message / members : message;
}

double bus_factor(Collective op, std::uint32_t members) {
    const double n = members;
    switch (op) {
        case Collective::all_reduce:
            return 2.0 * (n - 1.0) / n;
        case Collective::all_gather:
        case Collective::reduce_scatter:
        case Collective::all_to_all:
            return (n - 1.0) / n;
        default:
            return 1.0;
    }
}

std::vector<CollectiveMeasurement> of_one_kind(const MeasurementTable& table, std::vector<CollectiveMeasurement> rows,
                                               std::string_view library) {
    TableErrors errors(table.file);
    std::set<std::string> libraries, variants;
    for (const CollectiveMeasurement& row : rows) libraries.insert(row.library);
    if (libraries.size() > 1) {
        std::erase_if(rows, [&](const CollectiveMeasurement& row) { return !names_library(row.library, library); });
    }
    if (rows.empty()) {
        errors.fail(0, fmt::format("nothing measured with {}; the table has: {}", library, listing(libraries)));
    }
    if (has_several_variants(rows)) {
        for (const CollectiveMeasurement& row : rows) variants.insert(row.variant);
        errors.fail(0,
                    fmt::format("measured in several ways; choose one by --where COLUMN=VALUE: {}", listing(variants)));
    }
    return rows;
}

}  // namespace weft
