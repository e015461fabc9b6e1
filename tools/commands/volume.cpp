// `weft volume JOB --view paper|framework`: what is communicated, without running it.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "sim/io/units.hpp"
#include "tools/command.hpp"
#include "tools/job_options.hpp"
#include "tools/output/text_table.hpp"
#include "workloads/volume/volume.hpp"

namespace weft::commands {
namespace {

void options(po::options_description& options, po::positional_options_description& positional) {
    add_job_options(options, positional);
    options.add_options()("view", po::value<std::string>()->default_value("framework")->value_name("VIEW"),
                          "paper: equations 1-5 of arXiv 2408.10197; framework: the calls really issued")(
        "rank", po::value<std::uint32_t>()->default_value(0)->value_name("N"), "whose calls (framework view)")(
        "json", po::bool_switch(), "machine-readable output")("csv", po::bool_switch(), "comma-separated rows");
}

nlohmann::ordered_json number(double value) {
    if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
    return value;
}

void print_json(const VolumeTable& table) {
    nlohmann::ordered_json json{{"rows", nlohmann::ordered_json::array()}};
    for (const VolumeRow& row : table.rows) {
        json["rows"].push_back({{"op", row.op},
                                {"dimension", row.dimension},
                                {"group_size", row.group_size},
                                {"calls", number(row.calls)},
                                {"message_bytes", number(row.message.value)},
                                {"volume_bytes", number(row.volume.value)},
                                {"when", row.when}});
    }
    json["totals"] = {{"volume_bytes", number(table.total().value)}, {"micro_batches", table.micro_batches}};
    fmt::print("{}\n", json.dump(2));
}

void print_csv(const VolumeTable& table) {
    fmt::print("op,dimension,group_size,calls,message_bytes,volume_bytes,when\n");
    for (const VolumeRow& row : table.rows) {
        fmt::print("{},{},{},{},{},{},{}\n", row.op, row.dimension, row.group_size, number(row.calls).dump(),
                   number(row.message.value).dump(), number(row.volume.value).dump(), row.when);
    }
}

void print_text(const VolumeTable& table) {
    TextTable text({"<op", "<dimension", "group", "calls", "message", "volume", "<when"});
    for (const VolumeRow& row : table.rows) {
        text.add({row.op, row.dimension, fmt::to_string(row.group_size), number(row.calls).dump(), to_text(row.message),
                  to_text(row.volume), row.when});
    }
    fmt::print("{}\none step ({} micro-batches): {} per rank\n", text.text(), table.micro_batches,
               to_text(table.total()));
}

VolumeTable framework_view(const po::variables_map& arguments) {
    const Study study = job_study(arguments);
    const Plan plan = make_plan(study);
    const std::uint32_t rank = arguments["rank"].as<std::uint32_t>();
    if (rank >= study.job.layout.ranks()) {
        throw po::error(fmt::format("--rank: the job has ranks 0 to {}, not {}", study.job.layout.ranks() - 1, rank));
    }
    return framework_volume(plan, build_step(plan, study.machine.topology(study.job.nodes)), RankId{rank});
}

Exit run(const po::variables_map& arguments) {
    const std::string& view = arguments["view"].as<std::string>();
    if (view != "paper" && view != "framework") {
        throw po::error("--view: expected paper or framework, got \"" + view + "\"");
    }
    const VolumeTable table =
        view == "paper" ? paper_volume(job_study(arguments, Purpose::equations).job) : framework_view(arguments);
    if (arguments["json"].as<bool>()) {
        print_json(table);
    } else if (arguments["csv"].as<bool>()) {
        print_csv(table);
    } else {
        print_text(table);
    }
    return Exit::ok;
}

}  // namespace

extern const Command volume;
const Command volume{
    .name = "volume",
    .summary = "what is communicated: every call with counts, sizes and volumes",
    .usage = "weft volume JOB [--view paper|framework] [--rank N] [--json|--csv]",
    .details =
        "Volumes are bytes per rank on the wire: all-reduce 2 m (n-1)/n, all-gather, reduce-scatter and\n"
        "all-to-all m (n-1)/n, send and receive m. Rows tagged micro-batch repeat for every micro-batch.\n"
        "The paper view evaluates the study's equations for one micro-batch, possible layout or not.",
    .options = options,
    .run = run,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
