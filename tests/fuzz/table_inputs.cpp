#include <boost/program_options/errors.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "tests/fuzz/input_file.hpp"
#include "tests/fuzz/inputs.hpp"
#include "tools/calibrate/device_fit.hpp"
#include "tools/collective/collective.hpp"
#include "tools/output/result_table.hpp"
#include "tools/share/sharing_file.hpp"
#include "tools/sweep/grid.hpp"
#include "tools/sweep/sweep.hpp"
#include "tools/validate/run.hpp"
#include "topologies/measurements/measurement.hpp"
#include "topologies/placement.hpp"

namespace weft::test {
namespace {

using Kinds = std::vector<InputKind>;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

void must(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
}

void read_benchmark(const std::string& text) {
    for (const CollectiveMeasurement& row : parse_measurements("run.txt", text, {.ranks = 8}).rows) {
        must(std::isfinite(row.size.value) && row.size.value > 0, "a size that is none");
        must(std::isfinite(row.time.value) && row.time.value > 0, "a time that is none");
    }
}

const MachineInfo& named_machine() {
    static const MachineInfo named = [] {
        MachineInfo info = Machine::load("frontier").info();
        info.node_names = {.prefix = "frontier", .first = 1};
        return info;
    }();
    return named;
}

void read_nodes(const std::string& text) {
    for (const std::uint32_t node : parse_node_list("hosts", text, named_machine())) {
        must(node < named_machine().nodes, "a node that the machine has not");
    }
}

void read_placement(const std::string& text) {
    for (const std::string& line : lines_of(text)) {
        for (const std::uint32_t node : place_nodes(line, 16, named_machine())) {
            must(node < named_machine().nodes, "a node that the machine has not");
        }
    }
}

void read_device_rows(const std::string& text) {
    for (const DeviceTableRow& row : read_device_table("kernels.csv", text, {})) {
        must(std::isfinite(row.measured.value) && row.measured.value > 0, "a time that is none");
        must(std::isfinite(row.weight) && row.weight > 0, "a weight that is none");
    }
}

// The texts of both files, one behind the other.
constexpr std::string_view between_files = "\n=====\n";

void read_set(const std::string& text) {
    const std::size_t end = text.find(between_files);
    if (end == std::string::npos) return;
    const ValidationSet set =
        read_validation_set("set.json", text.substr(0, end), "set.csv", text.substr(end + between_files.size()));
    for (const ValidationRow& row : set.rows) {
        for (const PublishedValue& value : row.measured) {
            must(std::isfinite(value.value) && value.value > 0, "a measured value that is none");
        }
    }
}

void read_points(const SweepGrid& grid, const std::vector<std::string>& conditions) {
    for (const std::string& text : conditions) {
        Condition condition(text, grid.keys());
        for (std::size_t i = 0; i < std::min<std::size_t>(grid.size(), 20); ++i) {
            std::vector<ResultCell> cells;
            for (const std::string& value : grid.point(i)) cells.push_back(cell_of_json(value));
            condition.holds(cells);
        }
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(grid.size(), 20); ++i) grid.overrides(i);
    grid.overrides(grid.size() - 1);
    grid.all_values();
}

void read_sweep(const std::string& text) {
    std::optional<SweepFile> file = read_sweep_file(file_of("sweep.json", text));
    if (!file) return;
    std::vector<Variation> variations = std::move(file->zipped);
    for (Variation& each : file->varied) variations.push_back(std::move(each));
    read_points(SweepGrid(std::move(variations)), file->conditions);
}

// Of a job beside it.
void read_sharing(const std::string& text) {
    const std::string path = file_of("sharing.json", text);
    std::ofstream(std::filesystem::path(path).replace_filename("a.json"))
        << R"({"machine": "frontier", "model": "gpt-neox-125m", "batch": {"global": 8}, "nodes": 1})";
    for (const PlacedJob& job : read_sharing_file(path).jobs) {
        must(job.study.job.fabric.placement.size() == job.study.job.nodes, "a job without nodes of its own");
    }
}

// --vary, --zip and --where, a line each.
void read_sweep_options(const std::string& text) {
    std::vector<Variation> variations;
    std::vector<std::string> conditions;
    for (const std::string& line : lines_of(text)) {
        if (line.starts_with("vary ")) variations.push_back(parse_variation(line.substr(5)));
        if (line.starts_with("zip ")) variations.push_back(parse_zip(line.substr(4)));
        if (line.starts_with("where ")) conditions.push_back(line.substr(6));
        if (line.starts_with("shard ")) parse_shard(line.substr(6));
    }
    read_points(SweepGrid(std::move(variations)), conditions);
}

void read_rows(const std::string& text) {
    const std::string path = file_of("rows.jsonl", text);
    const RowFile file = read_row_file(path);
    for (const auto& [number, row] : file.rows) {
        must(parse_row(row_line(number, row)).second == row, "a row that is another when read again");
    }
    merge_shards({path});
}

void read_sizes(const std::string& text) {
    for (const std::string& line : lines_of(text)) {
        try {
            for (const Bytes size : parse_sizes(line, "--sizes")) {
                must(std::isfinite(size.value) && size.value >= 0, "a size that is none");
            }
        } catch (const boost::program_options::error&) {
            continue;
        }
    }
}

Kinds benchmarks() {
    const std::string nccl =
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
        "# Using devices\n"
        "#  Rank  0 Group  0 Pid  1 on  nid1 device  0 [0x01] NVIDIA GH200 120GB\n"
        "#  Rank  1 Group  0 Pid  2 on  nid2 device  0 [0x01] NVIDIA GH200 120GB\n"
        "# all_reduce_perf\n"
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
        "busbw\n"
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
        "(GB/s)\n"
        "           8             2     float     sum      -1    17.93    0.00    0.00      0    17.72    0.00    "
        "0.00\n"
        "     1048576        262144     float     sum      -1    78.77   13.31   19.97      0    81.31   12.90   "
        "19.35\n";
    const std::string osu =
        "# OSU MPI-ROCM Allgather Latency Test v7.5\n# Size       Avg Latency(us)\n1        8.15\n1048576     813.61\n";
    const std::string csv =
        "# measured\ncollective,ranks,nodes,size_bytes,time_us,convention,library\n"
        "all_reduce,8,1,1024,17.5,nccl,rccl\nall_gather,16,2,1048576,120.25,osu,\"cray-mpich\"\n";
    const std::string json =
        R"({"version": 3, "args": ["./build/reduce_scatter_perf", "-b", "8"], "ranks": 8, "results": [
            {"size": 8, "out_of_place": {"time": 17.5}, "in_place": {"time": 16.5}},
            {"size": 1048576, "out_of_place": {"time": 99.5}, "in_place": {"time": 98}}]})";
    return {{"measurement.txt", Syntax::text, {nccl, osu, csv}, read_benchmark},
            {"measurement.json", Syntax::json, {json}, read_benchmark}};
}

Kinds sweeps() {
    const std::string sweep =
        R"json({"job": "job.json", "set": {"zero": 1}, "zip": [{"layout.tensor": [1, 2], "layout.data": "16,8"}],
            "vary": {"batch.sequence": "512..65536*2", "@scheme": ["a", "b"]},
            "where": ["layout.tensor * 2 <= 64 and not (batch.sequence == 512 or layout.data > 8)"]})json";
    const std::string options =
        "vary batch.sequence=512..65536*2\nvary precision=fp16,bf16\nzip layout.tensor=1,2,4 layout.data=16,8,4\n"
        "where layout.tensor * layout.data <= 64 and not (precision == \"fp16\" or batch.sequence > 2048)\n"
        "where -layout.tensor % 3 < 0.5 / 2\nshard 3/8\nvary x=0.5..0-0.1";
    std::string rows = header_line({.job = "job",
                                    .inputs = {{{"job", "1a"}, {"version", "2b"}}},
                                    .points = 3,
                                    .shard = {},
                                    .columns = {{"batch.sequence", "", "tokens", ColumnKind::key},
                                                {"step.time_s", "s", "time", ColumnKind::metric}}});
    rows += row_line(0, {std::int64_t{512}, 0.5}) + row_line(1, {std::int64_t{1024}, 1.0}) +
            row_line(2, {std::int64_t{2048}, std::monostate{}});
    const std::string sharing =
        R"json({"jobs": [{"job": "a.json", "placement": "nodes:3", "start": "2 ms", "set": {"zero": 1}},
            {"job": "a.json", "name": "b", "placement": "random:4"}, {"job": "a.json", "name": "c"}]})json";
    return {{"sweep", Syntax::json, {sweep}, read_sweep},
            {"sharing", Syntax::json, {sharing}, read_sharing},
            {"sweep_options", Syntax::text, {options}, read_sweep_options, 2},
            {"rows", Syntax::text, {rows}, read_rows}};
}

Kinds validation_sets() {
    InputKind kind{"validation", Syntax::text, {}, read_set};
    for (const embedded::File& file : embedded::validation()) {
        for (const embedded::File& table : embedded::validation_tables()) {
            if (file.name != table.name) continue;
            kind.seeds.push_back(std::string(file.text) + std::string(between_files) + std::string(table.text));
        }
    }
    return {kind};
}

}  // namespace

std::vector<InputKind> table_inputs() {
    Kinds kinds{
        {"nodes",
         Syntax::text,
         {"frontier[00021-00024,00030] frontier00012 slots=8\nfrontier00014:8 # spare\n"},
         read_nodes},
        {"placement",
         Syntax::text,
         {"contiguous\nrandom\nrandom:7\ngroup:2\nscatter:4\nnodes:3,16-40"},
         read_placement},
        {"kernels",
         Syntax::text,
         {"# measured\nkind,precision,m,n,k,count,keys,head_size,heads,batch,bytes,seconds,alone_seconds,spread\n"
          "gemm,bf16,4096,4096,4096,1,,,,,,0.0012,,0.01\nattention,bf16,,,,,2048,64,16,2,,0.002,,\n"
          "memory,,,,,,,,,,1e9,0.001,,\nlaunch,,,,,,,,,,1,3e-6,,\nhost,,,,,,,,,,,5e-6,,\n"
          "contended,bf16,4096,4096,4096,1,,,,,,0.0015,0.0012,0.1\n"},
         read_device_rows},
        {"sizes", Syntax::text, {"8:1G:2\n8,64K,1M\n1MiB:2MiB:1048576\n512"}, read_sizes}};
    for (Kinds (*const more)() : {benchmarks, sweeps, validation_sets}) {
        for (InputKind& kind : more()) kinds.push_back(std::move(kind));
    }
    return kinds;
}

}  // namespace weft::test
