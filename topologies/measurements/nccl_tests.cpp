// The output of nccl-tests and rccl-tests. Columns are found by the comment that names them:
//   #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw
//   #wrong #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s) (GB/s)
//        1048576        262144     float     sum      -1    78.77   13.31   23.29      0    81.31   12.90   22.57 0
// Lines that begin with something else than a number are the library's own log.
#include <fmt/format.h>

#include <set>

#include "topologies/library_reader.hpp"
#include "topologies/measurements/formats.hpp"

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
        for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
            if (parts[i] != "on") continue;
            ++found.ranks;
            hosts.insert(parts[i + 1]);
            break;
        }
    }
    found.nodes = static_cast<std::uint32_t>(hosts.size());
    return found;
}

}  // namespace

std::optional<Collective> nccl_tests_program(std::string_view word) {
    const std::size_t slash = word.rfind('/');
    if (slash != word.npos) word.remove_prefix(slash + 1);
    const std::size_t end = word.find("_perf");
    return end == word.npos ? std::nullopt : find_collective(word.substr(0, end));
}

std::optional<Collective> nccl_tests_op(const TableText& text) {
    for (const TableLine& line : text.comments) {
        for (const std::string_view word : words(line.text)) {
            if (const auto op = nccl_tests_program(word)) return op;
        }
    }
    return std::nullopt;
}

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

}  // namespace weft
