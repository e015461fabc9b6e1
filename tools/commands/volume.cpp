// `weft volume JOB --view paper|framework|logger`: what is communicated. Only the text of the logger, which has times,
// runs it.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <vector>

#include "tools/command.hpp"
#include "tools/output/job_json.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/output/volume_text.hpp"
#include "workloads/volume/volume.hpp"

namespace weft::commands {
namespace {

RankId chosen_rank(const po::variables_map& arguments, const Job& job) {
    const std::uint32_t rank = *count_option(arguments, {.name = "rank", .least = 0});
    if (rank < job.layout.ranks()) return RankId{rank};
    throw OptionError("--rank: the job has ranks 0 to {}, not {}", job.layout.ranks() - 1, rank);
}

// The table and lines that the logger prints, timed by a simulation in which its calls block.
std::string log_text(const Study& study, const po::variables_map& arguments) {
    if (given(arguments, "histogram")) throw OptionError("--histogram: with --view logger only for --json or --csv");
    const RankId rank = chosen_rank(arguments, study.job);
    const std::uint32_t steps = *count_option(arguments, {"steps"});
    if (const std::string why = obstacle(make_plan(study)); !why.empty()) {
        fmt::print(stderr, "{}: {}; the log is of a run that could not be\n", job_path(arguments), why);
    }
    const std::vector<LoggedCall> log = logged_calls(study, rank, steps);
    const std::uint32_t world = study.job.layout.ranks();
    return (given(arguments, "verbose") ? logger_lines(log, world, rank) : "") + logger_summary(log, world);
}

std::string table_text(const Study& study, const VolumeTable& table, const po::variables_map& arguments) {
    const bool histogram = given(arguments, "histogram");
    if (given(arguments, "csv")) {
        if (histogram) return table_csv(histogram_table(volume_histogram(table)));
        return given(arguments, "totals") ? volume_totals_csv(table) : volume_csv(table);
    }
    const VolumeParts parts = histogram ? VolumeParts::rows_and_histogram : VolumeParts::rows;
    const MachineInfo& machine = study.machine.info();
    if (!given(arguments, "json")) return run_heading(study.job, machine) + "\n\n" + volume_text(table, parts);
    const Json job = job_json(study.job, machine, job_record(arguments));
    return volume_json(table, parts, &job);
}

void check_options(const po::variables_map& arguments, const std::string& view) {
    if (view != "paper" && view != "framework" && view != "logger") {
        throw unexpected("view", "paper, framework or logger", view);
    }
    const bool json = given(arguments, "json"), csv = given(arguments, "csv"), totals = given(arguments, "totals");
    if (json && csv) throw OptionError("--json and --csv: only one of them");
    if (totals && !csv) throw OptionError("--totals: only with --csv; other outputs have the totals anyway");
    if (totals && given(arguments, "histogram")) throw OptionError("--totals and --histogram: only one of them");
    const bool log = view == "logger" && !json && !csv;
    if (!log && given(arguments, "verbose")) throw OptionError("--verbose: only for the text of --view logger");
    if (!log && !arguments["steps"].defaulted()) throw OptionError("--steps: only for the text of --view logger");
    count_option(arguments, {"steps"});  // refuses before anything runs
}

Answer run_volume(const po::variables_map& arguments) {
    const std::string& view = arguments["view"].as<std::string>();
    check_options(arguments, view);
    const Study study = job_study(arguments, view == "paper" ? Purpose::equations : Purpose::simulation);
    if (view == "paper") return {table_text(study, paper_volume(study.job), arguments)};
    const RankId rank = chosen_rank(arguments, study.job);
    if (view == "framework") return {table_text(study, framework_volume(make_plan(study), rank), arguments)};
    if (study.job.framework->name != "deepspeed") {
        throw OptionError("--view logger: only DeepSpeed has this logger; the job's framework is {}",
                          study.job.framework->name);
    }
    if (!given(arguments, "json") && !given(arguments, "csv")) return {log_text(study, arguments)};
    return {table_text(study, logger_volume(make_plan(study), rank), arguments)};
}

}  // namespace

extern const Command volume{.name = "volume", .run = run_volume, .group = CommandGroup::inspect};

}  // namespace weft::commands
