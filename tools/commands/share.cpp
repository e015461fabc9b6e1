// `weft share FILE`: jobs that share a machine, and how much slower each of them is.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/output/timeline_trace.hpp"
#include "tools/page/pages.hpp"
#include "tools/share/sharing_file.hpp"

namespace weft::commands {
namespace {

Answer answer_share(const po::variables_map& arguments) {
    const auto start = std::chrono::steady_clock::now();
    const std::string trace = output_option(arguments, "trace", {".json", ".json.gz", ".pftrace"});
    const std::string page = output_option(arguments, "report", {".html"});
    const std::uint32_t links = *count_option(arguments, {.name = "links", .least = 0});
    const SharingOptions options{.steps = *count_option(arguments, {.name = "steps", .most = 1000}),
                                 .recording = trace.empty() ? Recording::spans : Recording::spans_and_links,
                                 .on_size = refuse_above(memory_limit(arguments))};
    const SharingFile file = read_sharing_file(arguments["file"].as<std::string>(), option_texts(arguments, "set"));
    print_notes(file.notes);
    const Sharing sharing = weft::share(file.jobs, options);
    if (!trace.empty()) {
        const std::string warning = write_trace(trace, sharing.program, sharing.timeline, sharing.topology,
                                                {.title = arguments["file"].as<std::string>()});
        if (!warning.empty()) fmt::print(stderr, "{}\n", warning);
    }
    if (!page.empty()) {
        const std::string command =
            typed_command("share " + option_text(arguments, "file"), arguments, {"steps", "links"});
        write_file_atomically(page, sharing_page(sharing, links, command));
    }
    const Seconds wall{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
    return {given(arguments, "json") ? sharing_json(sharing, links, wall) : sharing_text(sharing, links)};
}

}  // namespace

extern const Command share{.name = "share", .run = answer_share, .group = CommandGroup::run, .is_of_library = true};

}  // namespace weft::commands
