#include "topologies/measurements/measurement.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "sim/io/files.hpp"
#include "topologies/measurements/lines.hpp"

namespace weft {

namespace {

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

bool begins_as_json(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != text.npos && text[first] == '{';
}

MeasurementTable read_by_format(std::string file, std::string_view text, const MeasurementHints& hints) {
    if (begins_as_json(text)) {
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

}  // namespace

MeasurementTable parse_measurements(std::string file, std::string_view text, const MeasurementHints& hints) {
    MeasurementTable table = read_by_format(std::move(file), text, hints);
    check_numbers(table);
    return table;
}

MeasurementTable read_measurements(const std::filesystem::path& path, const MeasurementHints& hints) {
    return parse_measurements(path.string(), read_text(path), hints);
}

namespace {

bool of_one_part(Collective op, SizeConvention convention) {
    return convention == SizeConvention::osu && (op == Collective::all_gather || op == Collective::all_to_all);
}

}  // namespace

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

namespace {

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

// As many as a message can hold.
std::string list(const std::set<std::string>& texts) {
    constexpr std::size_t most = 12;
    const auto end = std::next(texts.begin(), static_cast<std::ptrdiff_t>(std::min(texts.size(), most)));
    return fmt::format("{}{}", fmt::join(texts.begin(), end, "; "), texts.size() > most ? "; ..." : "");
}

}  // namespace

std::vector<CollectiveMeasurement> of_one_kind(const MeasurementTable& table, std::vector<CollectiveMeasurement> rows,
                                               std::string_view library) {
    TableErrors errors(table.file);
    std::set<std::string> libraries, variants;
    for (const CollectiveMeasurement& row : rows) libraries.insert(row.library);
    if (libraries.size() > 1) {
        std::erase_if(rows, [&](const CollectiveMeasurement& row) { return !names_library(row.library, library); });
    }
    if (rows.empty()) {
        errors.fail(0, fmt::format("nothing measured with {}; the table has: {}", library, list(libraries)));
    }
    if (has_several_variants(rows)) {
        for (const CollectiveMeasurement& row : rows) variants.insert(row.variant);
        errors.fail(0, fmt::format("measured in several ways; choose one by --where COLUMN=VALUE: {}", list(variants)));
    }
    return rows;
}

}  // namespace weft
