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

extern const Command share{
    .name = "share",
    .summary = "jobs that share a machine: how much slower each gets, and where they meet",
    .run = run_share,
    .group = CommandGroup::run,
};

}  // namespace weft::commands
