// `weft collective OP --machine M --ranks N`: what nccl-tests, rccl-tests or the OSU micro-benchmarks would print.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "sim/io/atomic_file.hpp"
#include "tools/collective/comparison.hpp"
#include "tools/collective/options.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/output/chart.hpp"
#include "tools/output/collective_text.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/link_file.hpp"

namespace weft::commands {
namespace {

void collective_options(po::options_description& options, po::positional_options_description& positional) {
    add_collective_options(options, positional);
    options.add_options()(
        "compare", text_value("MEASURED"),
        "beside what nccl-tests, rccl-tests or OSU printed, or a CSV table; its sizes unless --sizes")(
        "plot", text_value("F.svg"), "draw time over size, with what was measured")(
        "links", text_value("FILE"), "write what each link carries at each size, by name (.csv or .csv.gz)");
    add_measurement_options(options);
}

// What of the table the request is about; the request then asks for the sizes that were measured.
std::vector<CollectiveMeasurement> measurements(const po::variables_map& arguments, CollectiveRequest& request) {
    MeasurementHints hints = measurement_hints(arguments);
    hints.op = request.op;
    hints.ranks = request.layout.members();
    hints.nodes = request.layout.nodes();
    const MeasurementTable table = read_measurements(arguments["compare"].as<std::string>(), hints);
    for (const SkippedRow& row : table.skipped) {
        fmt::print(stderr, "{}:{}: skipped: {}\n", table.file, row.line, row.why);
    }
    std::vector<CollectiveMeasurement> rows = matching(table, request);
    std::vector<Bytes>& messages = request.messages;
    if (!arguments["sizes"].defaulted()) {
        std::erase_if(rows,
                      [&](const CollectiveMeasurement& row) { return std::ranges::count(messages, row.size) == 0; });
        if (rows.empty()) throw po::error("--sizes: none of these was measured");
        return rows;
    }
    messages.clear();
    for (const CollectiveMeasurement& row : rows) messages.push_back(row.size);
    std::ranges::sort(messages);
    messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
    return rows;
}

std::string text_of(const po::variables_map& arguments, const CollectiveRequest& request,
                    const std::vector<CollectiveRow>& rows, const std::optional<Comparison>& comparison) {
    if (given(arguments, "json")) return collective_json(request, rows, comparison);
    if (given(arguments, "csv")) return collective_csv(rows);
    std::string text =
        request.convention == SizeConvention::osu ? collective_osu(request, rows) : collective_nccl(request, rows);
    text += collective_samples(request, rows);
    if (request.detail == Detail::explained) text += collective_explanation(rows);
    if (comparison) text += comparison_text(*comparison, arguments["compare"].as<std::string>());
    return text;
}

void check_options(const po::variables_map& arguments) {
    const bool csv = given(arguments, "csv");
    if (csv && given(arguments, "json")) throw po::error("--json and --csv: only one of them");
    if (csv && given(arguments, "explain")) throw po::error("--explain: not in --csv");
    if (csv && arguments.count("compare") > 0) throw po::error("--compare: not in --csv");
    if (given(arguments, "explicit") && arguments.count("links") > 0) {
        throw po::error("--links: not of messages sent one by one (--explicit)");
    }
    for (const char* option : {"convention", "where"}) {
        if (arguments.count(option) > 0 && arguments.count("compare") == 0) {
            throw po::error(fmt::format("--{}: only with --compare", option));
        }
    }
}

// A file that is begun with the first row, when its topology is known.
TrafficListener write_to(std::optional<LinkFile>& file, const std::string& path) {
    return [&file, path](const Topology& topology, const CollectiveRow& row, const LinkTraffic& traffic) {
        if (!file) file.emplace(path, topology, "size_bytes,");
        file->add_all(traffic, number_text(row.size.value) + ',');
    };
}

Exit run_collective(const po::variables_map& arguments) {
    check_options(arguments);
    CollectiveRequest request = collective_request(arguments);
    std::vector<CollectiveMeasurement> measured;
    if (arguments.count("compare") > 0) measured = measurements(arguments, request);
    const std::string links = output_option(arguments, "links", {".csv", ".csv.gz"});
    std::optional<LinkFile> file;
    const std::vector<CollectiveRow> rows = predict(request, links.empty() ? TrafficListener{} : write_to(file, links));
    if (file) file->commit();
    const auto comparison = measured.empty() ? std::nullopt : std::optional(compare(measured, rows));
    fmt::print("{}", text_of(arguments, request, rows, comparison));
    if (arguments.count("plot") > 0) {
        write_file_atomically(arguments["plot"].as<std::string>(),
                              chart_svg(collective_chart(request, rows, comparison)));
    }
    return Exit::ok;
}

}  // namespace

extern const Command collective;
const Command collective{
    .name = "collective",
    .summary = "time of a collective, as nccl-tests or the OSU benchmarks print it",
    .usage = "weft collective OP --machine MACHINE --ranks N [--sizes 8:1G:2] [options]",
    .details =
        "OP: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, send_receive (each rank to the\n"
        "next round a ring) or point_to_point (the first of two ranks to the other).\n"
        "Sizes are bytes of the full buffer, as in nccl-tests (all-gather: the output; reduce-scatter: the input);\n"
        "with --format osu those of the OSU micro-benchmarks (all-gather: per rank, all-to-all: per destination).\n"
        "Bus bandwidth is algorithm bandwidth times 2(n-1)/n for all-reduce, (n-1)/n for all-gather,\n"
        "reduce-scatter and all-to-all, 1 for the others.\n"
        "--load and --background: other traffic takes a share s of a link's bandwidth, and each link adds the time "
        "that a\n"
        "packet of 4096 B then waits, s / (2 (1 - s)) times its own (M/D/1). --load is about links between switches: "
        "the\n"
        "ports of a job's nodes carry the job alone, unless --background names their class.\n"
        "--links: load_bytes are the bytes that crossed a cable, with a protocol's flags; on links of nodes and of "
        "their\n"
        "ports divided by what the library reaches of these.\n"
        "--samples: the time of every message varies by a factor of its own, log-normal of mean 1 and standard "
        "deviation\n"
        "--jitter; a round of messages lasts as long as its slowest, launch and host do not vary. Where\n"
        "flows are routed by ECMP, each sample also has hashes of its own, so that other flows meet.\n\n"
        "  weft collective all_reduce --machine frontier --ranks 64 --sizes 1K:1G:4\n"
        "  weft collective all_gather --machine frontier --ranks 128 --sizes 64M --explain\n"
        "  weft collective all_reduce --machine frontier --ranks 64 --groups 8 --sizes 256M --json\n"
        "  weft collective all_reduce --machine frontier --ranks 1024 --sizes 64K --load 0.75 --samples 1000 --jitter "
        "0.1\n"
        "  weft collective all_reduce --machine megascale --ranks 2048 --placement random:1 --samples 100\n"
        "  weft collective all_to_all --machine frontier --ranks 512 --placement scatter:8 --routing minimal\n"
        "  weft collective all_reduce --machine frontier --ranks 64 --compare measured.txt --plot times.svg\n"
        "  weft collective point_to_point --machine frontier --ranks 2 --ranks-per-node 1 --format osu",
    .options = collective_options,
    .run = run_collective,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
