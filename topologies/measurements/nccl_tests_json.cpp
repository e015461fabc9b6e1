// What nccl-tests writes with -J (NVIDIA/nccl-tests, src/util.cu):
//   { "args": ["all_reduce_perf", ...], "devices": [{ "rank": 0, "hostname": "a", ... }, ...],
//     "results": [{ "size": 1048576, "out_of_place": { "time": 78.77, "alg_bw": 13.31, "bus_bw": 23.29 },
//                   "in_place": { ... } }, ...] }
// Times are in microseconds. A place that was not measured is null, a time that is no number the text "nan".
#include <set>

#include "sim/io/document.hpp"
#include "topologies/measurements/formats.hpp"

namespace weft {
namespace {

std::optional<Collective> op_of_arguments(Field& root) {
    if (!root.has("args")) return std::nullopt;
    for (Field& argument : root.list("args")) {
        if (const auto op = nccl_tests_program(argument.as_text())) return op;
    }
    return std::nullopt;
}

void read_devices(Field& root, std::uint32_t& ranks, std::uint32_t& nodes) {
    if (!root.has("devices")) return;
    std::set<std::string> hosts;
    const std::vector<Field> devices = root.list("devices");
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
