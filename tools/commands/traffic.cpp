// `weft traffic PATTERN --machine M --ranks N`: messages that are no collective, and the links that they meet on.
#include <fmt/format.h>

#include <cstdio>

#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/output/traffic_text.hpp"
#include "tools/traffic/request.hpp"

namespace weft::commands {
namespace {

Exit run_traffic_command(const po::variables_map& arguments) {
    const bool json = given(arguments, "json"), csv = given(arguments, "csv");
    if (json && csv) throw po::error("--json and --csv: only one of them");
    const std::uint32_t top = *count_option(arguments, {"top"});
    const TrafficRequest request = traffic_request(arguments);
    const TrafficFacts facts = traffic_facts(request, top);
    fmt::print("{}", json  ? traffic_json(request, facts)
                     : csv ? traffic_csv(request, facts)
                           : traffic_text(request, facts));
    return Exit::ok;
}

}  // namespace

extern const Command traffic{
    .name = "traffic",
    .summary = "time and rates of messages between ranks: permutations, incast, a matrix",
    .run = run_traffic_command,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
