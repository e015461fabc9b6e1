// The output of nccl-tests and rccl-tests. Columns are found by the comment that names them:
//   #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw
//   #wrong #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s) (GB/s)
//        1048576        262144     float     sum      -1    78.77   13.31   23.29      0    81.31   12.90   22.57 0
// Lines that begin with something else than a number are the library's own log.
#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "sim/io/document.hpp"
#include "topologies/machine.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {

namespace {

struct Columns {
    std::size_t size = 0, time = 0, count = 0;
};

std::vector<std::string_view> names(std::string_view comment) {
    std::vector<std::string_view> found = words(comment);
    if (!found.empty() && found.front() == "#") found.erase(found.begin());
    return found;
}

// Nothing if the comment names no columns.
std::optional<Columns> find_columns(std::string_view comment, ResultPlace place) {
    const std::vector<std::string_view> found = names(comment);
    Columns columns{.size = 0, .time = 0, .count = found.size()};
    std::size_t times = 0;
    bool has_size = false, has_bandwidth = false;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (letters(found[i]) == "size") {
            columns.size = i;
            has_size = true;
        }
        if (found[i] == "busbw") has_bandwidth = true;
        if (found[i] == "time" && times++ == (place == ResultPlace::in_place ? 1U : 0U)) columns.time = i;
    }
    if (!has_size || !has_bandwidth || times == 0) return std::nullopt;
    if (columns.time == 0) columns.count = 0;  // the place that was asked for is not there
    return columns;
}

struct Participants {
    std::uint32_t ranks = 0, nodes = 0;
};

// "#  Rank  0 Group  0 Pid  1234 on     nid001 device  0 [0x03] NVIDIA GH200"
Participants participants(const TableText& text) {
    Participants found;
    std::set<std::string_view> hosts;
    for (const TableLine& line : text.comments) {
        const std::vector<std::string_view> parts = names(line.text);
        if (parts.size() < 4 || parts.front() != "Rank") continue;
        const auto on = std::find(parts.begin() + 1, parts.end() - 1, "on");
        if (on == parts.end() - 1) continue;
        ++found.ranks;
        hosts.insert(on[1]);
    }
    found.nodes = static_cast<std::uint32_t>(hosts.size());
    return found;
}

// By the name of its program, with its folder: "all_reduce_perf".
std::optional<Collective> nccl_tests_program(std::string_view word) {
    const std::size_t slash = word.rfind('/');
    if (slash != word.npos) word.remove_prefix(slash + 1);
    const std::size_t end = word.find("_perf");
    return end == word.npos ? std::nullopt : find_collective(word.substr(0, end));
}

// What the program said it measures; nothing if no comment names one.
std::optional<Collective> nccl_tests_op(const TableText& text) {
    for (const TableLine& line : text.comments) {
        for (const std::string_view word : words(line.text)) {
            if (const auto op = nccl_tests_program(word)) return op;
        }
    }
    return std::nullopt;
}

// What nccl-tests writes with -J (NVIDIA/nccl-tests, src/util.cu):
//   { "args": ["all_reduce_perf", ...], "devices": [{ "rank": 0, "hostname": "a", ... }, ...],
//     "results": [{ "size": 1048576, "out_of_place": { "time": 78.77, "alg_bw": 13.31, "bus_bw": 23.29 },
//                   "in_place": { ... } }, ...] }
// Times are in microseconds. A place that was not measured is null, a time that is no number the text "nan".

std::optional<Collective> op_of_arguments(Field& root) {
    for (Field& argument : root.list_if_given("args")) {
        if (const auto op = nccl_tests_program(argument.as_text())) return op;
    }
    return std::nullopt;
}

void read_devices(Field& root, std::uint32_t& ranks, std::uint32_t& nodes) {
    std::set<std::string> hosts;
    const std::vector<Field> devices = root.list_if_given("devices");
    for (Field device : devices) hosts.insert(device.text("hostname", ""));
    if (devices.empty()) return;
    ranks = static_cast<std::uint32_t>(devices.size());
    if (!hosts.contains("")) nodes = static_cast<std::uint32_t>(hosts.size());
}

// Adds the row of one size, or says why there is none.
void read_result(MeasurementTable& table, Field& result, std::string_view place, CollectiveMeasurement row) {
    row.line = result.origin("size").line;
    row.size = Bytes{result.number("size")};
    if (row.size.value == 0.0 || !result.has(place)) {
        table.skipped.push_back({row.line, row.size.value == 0.0 ? "size 0" : "no time"});
        return;
    }
    Field measured = result.object(place);
    if (measured.is_text("time")) {
        table.skipped.push_back({row.line, "no time"});
        return;
    }
    constexpr double microseconds = 1e6;
    row.time = Seconds{measured.number("time") / microseconds};
    if (!(row.size.value > 0.0)) result.error("size", "expected a size above 0");
    if (!(row.time.value > 0.0)) measured.error("time", "expected a time above 0");
    table.rows.push_back(std::move(row));
}

}  // namespace

MeasurementTable read_nccl_tests(const TableText& text, const MeasurementHints& hints) {
    TableErrors errors(text.file);
    std::optional<Columns> columns;
    for (const TableLine& line : text.comments) {
        if (const auto found = find_columns(line.text, hints.place)) columns = found;
    }
    if (!columns) errors.fail(text.lines.front().number, "no comment names the columns size, time and busbw");
    if (columns->count == 0) errors.fail(0, "the table has no times in place");
    const std::optional<Collective> told = nccl_tests_op(text), op = told ? told : hints.op;
    if (!op) errors.fail(0, "the output does not say which collective it is: name it");
    const Participants found = participants(text);
    MeasurementTable table{.file = text.file, .rows = {}, .skipped = {}};
    for (const TableLine& line : text.lines) {
        const std::vector<std::string_view> cells = words(line.text);
        const std::optional<double> size = to_number(cells.front());
        if (!size) continue;  // the library's log
        if (cells.size() <= columns->time) {
            errors.add(line.number,
                       fmt::format("expected {} columns as named above, got {}", columns->count, cells.size()));
            continue;
        }
        const std::optional<double> time = to_number(cells[columns->time]);
        if (cells[columns->time] == "N/A" || *size == 0.0) {
            table.skipped.push_back({line.number, *size == 0.0 ? "size 0" : "no time"});
        } else if (!time || !(*time > 0.0) || !(*size > 0.0)) {
            errors.add(line.number, fmt::format("expected a size and a time above 0, got \"{}\" and \"{}\"",
                                                excerpt(cells.front()), excerpt(cells[columns->time])));
        } else {
            table.rows.push_back({.op = *op,
                                  .ranks = found.ranks > 0 ? found.ranks : hints.ranks,
                                  .nodes = found.nodes > 0 ? found.nodes : hints.nodes,
                                  .size = Bytes{*size},
                                  .time = Seconds{*time / 1e6},
                                  .line = line.number});
        }
    }
    errors.check();
    return table;
}

MeasurementTable read_nccl_tests_json(std::string file, std::string text, const MeasurementHints& hints) {
    Document document = Document::parse(file, std::move(text));
    Field root = document.root();
    const std::optional<Collective> told = op_of_arguments(root), op = told ? told : hints.op;
    if (!op) root.error("args", "the output does not say which collective it is: name it");
    CollectiveMeasurement row{.op = op.value_or(Collective{}), .ranks = hints.ranks, .nodes = hints.nodes};
    read_devices(root, row.ranks, row.nodes);
    const std::string_view place = hints.place == ResultPlace::in_place ? "in_place" : "out_of_place";
    MeasurementTable table{.file = std::move(file), .rows = {}, .skipped = {}};
    for (Field& result : root.list("results")) read_result(table, result, place, row);
    document.check();
    return table;
}

}  // namespace weft
