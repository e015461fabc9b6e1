#include "tools/traffic/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "sim/io/text_file.hpp"
#include "tools/collective/options.hpp"
#include "tools/collective/sizes.hpp"
#include "tools/count_option.hpp"
#include "tools/fabric_options.hpp"
#include "tools/traffic/message_files.hpp"
#include "tools/traffic/patterns.hpp"

namespace weft {
namespace {

std::string text_of(const po::variables_map& arguments, const char* name) {
    return arguments.count(name) > 0 ? arguments[name].as<std::string>() : "";
}

// --ranks, or all that --nodes hold.
std::optional<std::uint32_t> ranks_option(const po::variables_map& arguments, std::uint32_t ranks_per_node,
                                          const MachineInfo& machine) {
    const std::optional<std::uint32_t> ranks = count_option(arguments, {"ranks"});
    const std::optional<std::uint32_t> nodes = count_option(arguments, {"nodes"});
    if (ranks && nodes) throw po::error("--ranks and --nodes: only one of them");
    if (!nodes) return ranks;
    if (*nodes <= machine.nodes) return *nodes * ranks_per_node;
    throw po::error(fmt::format("--nodes: {} has {} nodes, not {}", machine.name, machine.nodes, *nodes));
}

// The one of PATTERN, --list and --matrix that is given.
const char* source_of(const po::variables_map& arguments) {
    const char* source = nullptr;
    for (const char* const each : {"pattern", "list", "matrix"}) {
        if (arguments.count(each) == 0) continue;
        if (source != nullptr) throw po::error("PATTERN, --list and --matrix: only one of them");
        source = each;
    }
    if (source == nullptr) throw po::error("expected a PATTERN, --list or --matrix");
    return source;
}

// Among the ranks that are asked for; where none are, among those that a file is about.
RankMessages read_messages(const po::variables_map& arguments, std::optional<std::uint32_t> ranks,
                           std::uint32_t most_ranks) {
    const std::string source = source_of(arguments);
    const std::string file = text_of(arguments, source.c_str());
    if (source == "pattern") {
        if (!ranks) throw po::error("--ranks or --nodes: a pattern needs one of them");
        const std::vector<Bytes> sizes =
            parse_sizes(arguments.count("size") > 0 ? text_of(arguments, "size") : "1M", "size");
        if (sizes.size() != 1) throw po::error(fmt::format("--size: expected one, got {}", sizes.size()));
        return {*ranks, traffic_pattern(file, *ranks, sizes.front())};
    }
    if (arguments.count("size") > 0) throw po::error(fmt::format("--size: of patterns; --{} says its own", source));
    const auto read = source == "list" ? read_message_list : read_traffic_matrix;
    RankMessages messages = read(file, read_text(file), ranks.value_or(most_ranks));
    messages.ranks = ranks.value_or(messages.ranks);
    return messages;
}

}  // namespace

void add_traffic_options(po::options_description& options, po::positional_options_description& positional) {
    const auto text = [](const char* value) { return po::value<std::string>()->value_name(value); };
    options.add_options()("pattern", text("PATTERN"), "who sends to whom: a name as below")(
        "machine", text("MACHINE")->required(), "a shipped machine, or a machine file")(
        "ranks", count_value("N"), "ranks that take part (default: those of the file)")(
        "nodes", count_value("N"), "the same by nodes")("ranks-per-node", count_value("K"),
                                                        "the first K accelerators of every node (default: all)")(
        "size", text("SIZE"), "bytes of each message of a pattern (default: 1M); K, M and G are powers of 1024")(
        "list", text("F.csv"), "messages from a file: source,destination,bytes,start")(
        "matrix", text("F.csv"), "bytes from each rank (line) to each rank (column)")(
        "library", text("L"), "a library of the machine file (default: its first)")("protocol", text("P"),
                                                                                    "force a protocol")(
        "calls", text("blocking|queued")->default_value("blocking"),
        "blocking: the host waits for each call; queued: it issues them back to back")(
        "top", count_value("N")->default_value("8"), "how many of the busiest links to show")(
        "json", po::bool_switch(), "machine-readable output")("csv", po::bool_switch(), "a row for each message");
    add_fabric_options(options);
    positional.add("pattern", 1);
}

TrafficRequest traffic_request(const po::variables_map& arguments) {
    TrafficRequest request{.machine = Machine::load(text_of(arguments, "machine"))};
    const MachineInfo& machine = request.machine.info();
    request.library = &library_named(machine, text_of(arguments, "library"));
    request.preference.protocol = text_of(arguments, "protocol");
    check_preference(*request.library, Collective::send_receive, request.preference);
    request.calls = calls_option(arguments);
    const std::uint32_t ranks_per_node = ranks_per_node_option(arguments, machine);
    const std::optional<std::uint32_t> ranks = ranks_option(arguments, ranks_per_node, machine);
    if (ranks) layout_of(*ranks, ranks_per_node, machine);  // refuses too many before they are written out
    RankMessages messages = read_messages(arguments, ranks, machine.nodes * ranks_per_node);
    if (messages.messages.size() > most_rank_messages) refuse_so_many();
    request.pattern = text_of(arguments, source_of(arguments));
    request.layout = layout_of(messages.ranks, ranks_per_node, machine);
    request.messages = std::move(messages.messages);
    request.fabric = fabric_option(arguments, machine, request.layout.nodes());
    return request;
}

}  // namespace weft
