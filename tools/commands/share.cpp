// `weft share FILE`: jobs that share a machine, and how much slower each of them is.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "tools/command.hpp"
#include "tools/job_options.hpp"
#include "tools/options.hpp"
#include "tools/output/chrome_trace.hpp"
#include "tools/output/sharing_text.hpp"
#include "tools/share/sharing_file.hpp"
#include "tools/size_limit.hpp"

namespace weft::commands {
namespace {

void share_options(po::options_description& options, po::positional_options_description& positional) {
    options.add_options()("file", text_value("FILE")->required(), "jobs and where they are")(
        "set", texts_value("KEY=VALUE"), "override a key of the file, e.g. jobs[1].placement=group:2; repeatable")(
        "steps", count_value("N")->default_value("1"), "whole steps of every job, at least, while all run")(
        "links", count_value("N")->default_value("8"), "tell of so many links where jobs meet, the busiest")(
        "json", po::bool_switch(), "machine-readable result")("trace", text_value("FILE"),
                                                              "write a Chrome trace of all jobs (.json or .json.gz)");
    add_memory_limit_option(options);
    positional.add("file", 1);
}

Exit run_share(const po::variables_map& arguments) {
    const auto start = std::chrono::steady_clock::now();
    const std::string trace = output_option(arguments, "trace", {".json", ".json.gz"});
    const std::uint32_t links = *count_option(arguments, {.name = "links", .least = 0});
    const SharingOptions options{.steps = *count_option(arguments, {.name = "steps", .most = 1000}),
                                 .recording = trace.empty() ? Recording::spans : Recording::spans_and_links,
                                 .on_size = refuse_above(memory_limit(arguments))};
    const SharingFile file = read_sharing_file(arguments["file"].as<std::string>(), option_texts(arguments, "set"));
    print_notes(file.notes);
    const Sharing sharing = weft::share(file.jobs, options);
    if (!trace.empty()) {
        const std::string warning = write_chrome_trace(trace, sharing.program, sharing.timeline, sharing.topology,
                                                       {.title = arguments["file"].as<std::string>()});
        if (!warning.empty()) fmt::print(stderr, "{}\n", warning);
    }
    const Seconds wall{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
    fmt::print("{}", given(arguments, "json") ? sharing_json(sharing, links, wall) : sharing_text(sharing, links));
    return Exit::ok;
}

}  // namespace

extern const Command share;
const Command share{
    .name = "share",
    .summary = "jobs that share a machine: how much slower each gets, and where they meet",
    .usage =
        "weft share FILE [--set KEY=VALUE]... [--steps N] [--links N] [--json] [--trace FILE] [--memory-limit SIZE]",
    .details =
        "FILE lists jobs of one machine:\n\n"
        "  { \"jobs\": [ { \"job\": \"a.json\", \"placement\": \"nodes:0-15\" },\n"
        "              { \"job\": \"b.json\", \"name\": \"b\", \"start\": \"1.5 s\", \"set\": { \"batch.micro\": 2 } } "
        "] }\n\n"
        "\"placement\" is as \"fabric.placement\" of a job: nodes:LIST, group:K, scatter:K, random:SEED or file:PATH; "
        "jobs\n"
        "without one take the lowest free nodes. \"set\" changes keys of the job.\n\n"
        "Each job does step after step from its start on; a step begins when the one before is over on all ranks of "
        "the\n"
        "job. The window begins when the last job starts and ends when all have done --steps steps in it; all go on\n"
        "until then. \"together\" is the mean of a job's steps that lie in the window whole, \"alone\" what `weft "
        "simulate\n"
        "--no-fold` says of the same nodes. Bytes are those of a step, and a link is busy for the share of its "
        "bandwidth\n"
        "that all jobs take. Every rank is simulated, and routes are those that each job takes alone: adaptive "
        "routing\n"
        "leads no job around another. Jobs that do not fit in memory are run all the same.",
    .options = share_options,
    .run = run_share,
    .group = CommandGroup::run,
};

}  // namespace weft::commands
