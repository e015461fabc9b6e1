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

extern const Command traffic;
const Command traffic{
    .name = "traffic",
    .summary = "time and rates of messages between ranks: permutations, incast, a matrix",
    .usage = "weft traffic (PATTERN | --list F.csv | --matrix F.csv) --machine MACHINE [--ranks N] [options]",
    .details =
        "PATTERN, a message of --size each, all at once:\n"
        "  shift[:K]           rank r to rank r + K, round (K: 1)\n"
        "  permutation[:SEED]  each rank to one other, by chance\n"
        "  incast[:N]          ranks 1 to N to rank 0 (N: all others)\n"
        "  neighbors           rank r to r - 1 and r + 1, round\n"
        "  bisection           each rank to the one half of all ranks away\n"
        "  uniform             each rank to every other\n"
        "A list has a line of names, source,destination,bytes and, perhaps, start (seconds, or as \"10 us\"); a matrix "
        "a\n"
        "line for each rank with the bytes to each rank.\n\n"
        "Every message is a flow of its own, max-min fair with the others on its links, and costs what send_receive "
        "of\n"
        "two ranks costs: one pair takes what `weft collective send_receive` says. Its rate is that of its bytes "
        "while\n"
        "they are on the way, its time goes from the call to the arrival. A link is busy for the share of the whole "
        "time\n"
        "that it needs for what it carries, as the library drives it, and binds messages that have no busier link.\n\n"
        "--load and --background: other traffic takes a share s of a link's bandwidth, and each link adds the time "
        "that a\n"
        "packet of 4096 B then waits, s / (2 (1 - s)) times its own (M/D/1). --load is about links between switches: "
        "the\n"
        "ports of a job's nodes carry the job alone, unless --background names their class.\n\n"
        "  weft traffic incast:15 --machine frontier --ranks 16 --ranks-per-node 1 --size 4M\n"
        "  weft traffic permutation:7 --machine dgx-h100 --nodes 64 --size 64M --load 0.5\n"
        "  weft traffic --matrix bytes.csv --machine alps --json",
    .options = add_traffic_options,
    .run = run_traffic_command,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
