// `weft replay TRACE... --machine M`: a recorded program on another machine.
#include "tools/replay/replayed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/page/replay_page.hpp"

namespace weft::commands {
namespace {

std::string command(const po::variables_map& arguments) {
    std::string typed = typed_command(fmt::format("replay {}", fmt::join(option_texts(arguments, "traces"), " ")),
                                      arguments, {"background"});
    for (const char* option : {"compute", "library", "calls", "network", "placement", "routing", "load"}) {
        if (arguments.count(option) == 0 || arguments[option].defaulted()) continue;
        typed += fmt::format(" --{} {}", option, option_text(arguments, option));
    }
    return typed;
}

Answer answer_replay(const po::variables_map& arguments) {
    const std::string page = output_option(arguments, "report", {".html"});
    const std::string trace = output_option(arguments, "trace", {".json", ".json.gz"});
    const ReplayedTraces done = replay_traces(arguments);
    if (!trace.empty()) write_replay_trace(trace, done.program, done.meetings, done.run);
    if (!page.empty()) {
        write_file_atomically(page, replay_page({done.program, done.meetings, done.costs, done.run}, done.summary,
                                                done.setting, command(arguments)));
    }
    return {given(arguments, "json") ? replay_json(done.summary, done.setting, done.wall)
                                     : replay_text(done.summary, done.setting)};
}

}  // namespace

extern const Command replay{
    .name = "replay",
    .summary = "run a recorded program, traces of Kineto or Chakra or a GOAL schedule, on a machine",
    .group = CommandGroup::run,
    .answer = answer_replay,
};

}  // namespace weft::commands
