#include "topologies/measurements/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/io/text_file.hpp"
#include "topologies/measurements/formats.hpp"

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

// Each figure is a number, but what comes of several need not be one, as of 1e308 bytes for each of 16 ranks.
void check_numbers(const MeasurementTable& table) {
    TableErrors errors(table.file);
    for (const CollectiveMeasurement& row : table.rows) {
        if (std::isfinite(row.size.value) && std::isfinite(row.time.value)) continue;
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

}  // namespace weft
