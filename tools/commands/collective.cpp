// `weft collective OP --machine M --ranks N`: what nccl-tests, rccl-tests or the OSU micro-benchmarks would print.
#include <fmt/format.h>

#include <vector>

#include "tools/collective/options.hpp"
#include "tools/collective/table.hpp"
#include "tools/command.hpp"
#include "tools/output/collective_text.hpp"

namespace weft::commands {
namespace {

bool given(const po::variables_map& arguments, const char* name) { return arguments[name].as<bool>(); }

std::string text_of(const po::variables_map& arguments, const CollectiveRequest& request,
                    const std::vector<CollectiveRow>& rows) {
    if (given(arguments, "json")) return collective_json(request, rows);
    if (given(arguments, "csv")) return collective_csv(rows);
    const std::string table =
        request.convention == SizeConvention::osu ? collective_osu(request, rows) : collective_nccl(request, rows);
    return request.detail == Detail::explained ? table + collective_explanation(rows) : table;
}

Exit run(const po::variables_map& arguments) {
    if (given(arguments, "json") && given(arguments, "csv")) throw po::error("--json and --csv: only one of them");
    if (given(arguments, "explain") && given(arguments, "csv")) throw po::error("--explain: not in --csv");
    const CollectiveRequest request = collective_request(arguments);
    fmt::print("{}", text_of(arguments, request, predict(request)));
    return Exit::ok;
}

}  // namespace

extern const Command collective;
const Command collective{
    .name = "collective",
    .summary = "time of a collective, as nccl-tests or the OSU benchmarks print it",
    .usage = "weft collective OP --machine MACHINE --ranks N [--sizes 8:1G:2] [options]",
    .details =
        "OP: all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, send_receive (each rank to the\n"
        "next round a ring) or point_to_point (the first of two ranks to the other).\n"
        "Sizes are bytes of the full buffer, as in nccl-tests (all-gather: the output; reduce-scatter: the input);\n"
        "with --format osu those of the OSU micro-benchmarks (all-gather: per rank, all-to-all: per destination).\n"
        "Bus bandwidth is algorithm bandwidth times 2(n-1)/n for all-reduce, (n-1)/n for all-gather,\n"
        "reduce-scatter and all-to-all, 1 for the others.\n\n"
        "  weft collective all_reduce --machine frontier --ranks 64 --sizes 1K:1G:4\n"
        "  weft collective all_gather --machine frontier --ranks 128 --sizes 64M --explain\n"
        "  weft collective all_reduce --machine frontier --ranks 64 --groups 8 --sizes 256M --json\n"
        "  weft collective point_to_point --machine frontier --ranks 2 --ranks-per-node 1 --format osu",
    .options = add_collective_options,
    .run = run,
    .group = CommandGroup::inspect,
};

}  // namespace weft::commands
