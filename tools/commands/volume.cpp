// `weft volume JOB --view paper|framework`: what is communicated, without running it.
#include <fmt/format.h>

#include <cstdio>

#include "tools/command.hpp"
#include "tools/job_options.hpp"
#include "tools/output/volume_text.hpp"
#include "workloads/volume/volume.hpp"

namespace weft::commands {
namespace {

void options(po::options_description& options, po::positional_options_description& positional) {
    add_job_options(options, positional);
    options.add_options()("view", po::value<std::string>()->default_value("framework")->value_name("VIEW"),
                          "paper: equations 1-5 of arXiv 2408.10197; framework: the calls really issued")(
        "rank", po::value<std::uint32_t>()->default_value(0)->value_name("N"), "whose calls (framework view)")(
        "json", po::bool_switch(), "machine-readable output")("csv", po::bool_switch(), "comma-separated rows")(
        "totals", po::bool_switch(), "with --csv: the sums per collective in place of the rows")(
        "histogram", po::bool_switch(), "how often messages of which size are sent (with --csv: in place of the rows)");
}

VolumeTable framework_view(const po::variables_map& arguments) {
    const Study study = job_study(arguments);
    const Plan plan = make_plan(study);
    const std::uint32_t rank = arguments["rank"].as<std::uint32_t>();
    if (rank >= study.job.layout.ranks()) {
        throw po::error(fmt::format("--rank: the job has ranks 0 to {}, not {}", study.job.layout.ranks() - 1, rank));
    }
    return framework_volume(plan, RankId{rank});
}

std::string text_of(const VolumeTable& table, const po::variables_map& arguments) {
    const bool json = arguments["json"].as<bool>(), csv = arguments["csv"].as<bool>();
    const bool totals = arguments["totals"].as<bool>(), histogram = arguments["histogram"].as<bool>();
    if (json && csv) throw po::error("--json and --csv: only one of them");
    if (totals && !csv) throw po::error("--totals: only with --csv; other outputs have the totals anyway");
    if (totals && histogram) throw po::error("--totals and --histogram: only one of them");
    if (csv) {
        if (histogram) return histogram_csv(volume_histogram(table));
        return totals ? volume_totals_csv(table) : volume_csv(table);
    }
    const VolumeParts parts = histogram ? VolumeParts::rows_and_histogram : VolumeParts::rows;
    return json ? volume_json(table, parts) : volume_text(table, parts);
}

Exit run(const po::variables_map& arguments) {
    const std::string& view = arguments["view"].as<std::string>();
    if (view != "paper" && view != "framework") {
        throw po::error("--view: expected paper or framework, got \"" + view + "\"");
    }
    const VolumeTable table =
        view == "paper" ? paper_volume(job_study(arguments, Purpose::equations).job) : framework_view(arguments);
    fmt::print("{}", text_of(table, arguments));
    return Exit::ok;
}

}  // namespace

extern const Command volume;
const Command volume{
    .name = "volume",
    .summary = "what is communicated: every call with counts, sizes and volumes",
    .usage = "weft volume JOB [--view paper|framework] [--rank N] [--histogram] [--json|--csv [--totals]]",
    .details =
        "Volumes are bytes per rank on the wire: all-reduce 2 m (n-1)/n, all-gather, reduce-scatter and\n"
        "all-to-all m (n-1)/n, send and receive m. Rows tagged micro-batch repeat for every micro-batch.\n"
        "The paper view evaluates the study's equations for one micro-batch, possible layout or not.",
    .options = options,
    .run = run,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
