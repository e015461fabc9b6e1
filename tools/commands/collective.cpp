// `weft collective OP --machine M --ranks N`: what nccl-tests, rccl-tests or the OSU micro-benchmarks would print.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

#include "sim/io/files.hpp"
#include "tools/collective/collective.hpp"
#include "tools/command.hpp"
#include "tools/output/chart.hpp"
#include "tools/output/json_text.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/output/timeline_trace.hpp"

namespace weft::commands {
namespace {

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
        if (rows.empty()) throw OptionError("--sizes: none of these was measured");
        return rows;
    }
    messages = list_of<Bytes>(rows, &CollectiveMeasurement::size);
    std::ranges::sort(messages);
    messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
    return rows;
}

// Time over size, both logarithmic; with what was measured, if anything.
Chart collective_chart(const CollectiveRequest& request, std::span<const CollectiveRow> rows,
                       const std::optional<Comparison>& comparison) {
    Chart chart{.title = fmt::format("{} on {}", name(request.op), request.machine.info().name),
                .subtitle = fmt::format("{}, {}", request.library->name, layout_text(request.layout)),
                .kind = ChartKind::lines,
                .x = {.title = "Full buffer", .unit = "B", .scale = AxisScale::log2},
                .y = {.title = "Time of a call", .unit = "s", .scale = AxisScale::log10},
                .series = {{.name = "predicted", .values = {}}}};
    for (const CollectiveRow& row : rows) {
        chart.positions.push_back(row.message.value);
        chart.series.front().values.push_back(row.time.value);
    }
    if (!comparison) return chart;
    ChartSeries measured{.name = "measured", .values = {}, .look = ChartSeries::Look::reference};
    for (const CollectiveRow& row : rows) {
        const auto found = std::ranges::find(comparison->rows, row.message, &ComparedRow::message);
        measured.values.push_back(found == comparison->rows.end() ? std::numeric_limits<double>::quiet_NaN()
                                                                  : found->measured.value);
    }
    chart.series.push_back(std::move(measured));
    return chart;
}

std::string report_of(const po::variables_map& arguments, const CollectiveRequest& request,
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
    if (csv && given(arguments, "json")) throw OptionError("--json and --csv: only one of them");
    if (csv && given(arguments, "explain")) throw OptionError("--explain: not in --csv");
    if (csv && arguments.count("compare") > 0) throw OptionError("--compare: not in --csv");
    for (const char* option : {"convention", "where"}) {
        if (arguments.count(option) > 0 && arguments.count("compare") == 0) {
            throw OptionError("--{}: only with --compare", option);
        }
    }
}

// A file that is begun with the first row, when its topology is known.
TrafficListener write_to(std::optional<LinkFile>& file, const std::string& path) {
    return [&file, path](const Topology& topology, const CollectiveRow& row, const LinkTraffic& traffic) {
        if (!file) file.emplace(path, topology, "size_bytes,");
        file->add(traffic, number_text(row.size.value) + ',');
    };
}

Answer answer_collective(const po::variables_map& arguments) {
    check_options(arguments);
    CollectiveRequest request = collective_request(arguments);
    std::vector<CollectiveMeasurement> measured;
    if (arguments.count("compare") > 0) measured = measurements(arguments, request);
    const std::string links = output_option(arguments, "links", {".csv", ".csv.gz"});
    std::optional<LinkFile> file;
    const std::vector<CollectiveRow> rows = predict(request, links.empty() ? TrafficListener{} : write_to(file, links));
    if (file) file->commit();
    const auto comparison = measured.empty() ? std::nullopt : std::optional(compare(measured, rows));
    if (arguments.count("plot") > 0) {
        write_file_atomically(arguments["plot"].as<std::string>(),
                              chart_svg(collective_chart(request, rows, comparison)));
    }
    return {report_of(arguments, request, rows, comparison)};
}

}  // namespace

extern const Command collective{
    .name = "collective", .run = answer_collective, .group = CommandGroup::inspect, .is_of_library = true};

}  // namespace weft::commands
