#include "tools/traffic/request.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "topologies/vertex_names.hpp"

namespace weft {
namespace {

// --ranks, or all that --nodes hold.
std::optional<std::uint32_t> ranks_option(const po::variables_map& arguments, std::uint32_t ranks_per_node,
                                          const MachineInfo& machine) {
    const std::optional<std::uint32_t> ranks = count_option(arguments, {"ranks"});
    const std::optional<std::uint32_t> nodes = count_option(arguments, {"nodes"});
    if (ranks && nodes) throw OptionError("--ranks and --nodes: only one of them");
    if (!nodes) return ranks;
    if (*nodes <= machine.most_nodes) return *nodes * ranks_per_node;
    throw OptionError("--nodes: {} has {} nodes, not {}", machine.name, machine.most_nodes, *nodes);
}

// The one of PATTERN, --list and --matrix that is given.
const char* source_of(const po::variables_map& arguments) {
    const char* source = nullptr;
    for (const char* const each : {"pattern", "list", "matrix"}) {
        if (arguments.count(each) == 0) continue;
        if (source != nullptr) throw OptionError("PATTERN, --list and --matrix: only one of them");
        source = each;
    }
    if (source == nullptr) throw OptionError("expected a PATTERN, --list or --matrix");
    return source;
}

// Among the ranks that are asked for; where none are, among those that a file is about.
RankMessages read_messages(const po::variables_map& arguments, std::optional<std::uint32_t> ranks,
                           std::uint32_t most_ranks) {
    const std::string source = source_of(arguments);
    const std::string file = option_text(arguments, source.c_str());
    if (source == "pattern") {
        if (!ranks) throw OptionError("--ranks or --nodes: a pattern needs one of them");
        const std::vector<Bytes> sizes =
            parse_sizes(arguments.count("size") > 0 ? option_text(arguments, "size") : "1M", "size");
        if (sizes.size() != 1) throw OptionError("--size: expected one, got {}", sizes.size());
        return {*ranks, traffic_pattern(file, *ranks, sizes.front())};
    }
    if (arguments.count("size") > 0) throw OptionError("--size: of patterns; --{} says its own", source);
    const auto read = source == "list" ? read_message_list : read_traffic_matrix;
    RankMessages messages = read(file, read_text(file), ranks.value_or(most_ranks));
    messages.ranks = ranks.value_or(messages.ranks);
    return messages;
}

std::vector<TrafficMessage> on_machine(const TrafficRequest& request, const Topology& topology) {
    const auto place = [&](std::uint32_t rank) {
        const std::uint32_t per_node = request.layout.ranks_per_node;
        return RankId(rank / per_node * topology.ranks_per_node + rank % per_node);
    };
    return list_of<TrafficMessage>(request.messages, [&](const RankMessage& each) {
        return TrafficMessage{place(each.from), place(each.to), each.bytes, each.start};
    });
}

TrafficSpread spread_of(std::vector<double> values) {
    std::ranges::sort(values);
    return {values.front(), values[(values.size() - 1) / 2], values.back()};
}

std::vector<TrafficLinkFacts> busiest_links(const TrafficRun& run, const Topology& topology, std::size_t top) {
    std::vector<CarryingLink> links = run.links;
    std::ranges::stable_sort(links, [](const CarryingLink& a, const CarryingLink& b) { return a.held > b.held; });
    links.resize(std::min(links.size(), top));
    const VertexNames names(topology);
    return list_of<TrafficLinkFacts>(links, [&](const CarryingLink& link) {
        return TrafficLinkFacts{.from = names[topology.tail(link.link)],
                                .to = names[topology.head(link.link)],
                                .link_class = topology.link(link.link).name,
                                .messages = link.messages,
                                .bound = link.bound,
                                .bytes = link.bytes,
                                .busy = link.held / run.time};
    });
}

}  // namespace

TrafficRequest traffic_request(const po::variables_map& arguments) {
    TrafficRequest request{.machine = Machine::load(option_text(arguments, "machine"))};
    const MachineInfo& machine = request.machine.info();
    request.library = &library_named(machine, option_text(arguments, "library"));
    request.preference.protocol = option_text(arguments, "protocol");
    check_preference(*request.library, Collective::send_receive, request.preference);
    request.calls = calls_option(arguments);
    const std::uint32_t ranks_per_node = ranks_per_node_option(arguments, machine);
    const std::optional<std::uint32_t> ranks = ranks_option(arguments, ranks_per_node, machine);
    if (ranks) layout_of(*ranks, ranks_per_node, machine);  // refuses too many before they are written out
    RankMessages messages = read_messages(arguments, ranks, machine.most_nodes * ranks_per_node);
    if (messages.messages.size() > most_rank_messages) refuse_so_many();
    request.pattern = option_text(arguments, source_of(arguments));
    request.layout = layout_of(messages.ranks, ranks_per_node, machine);
    request.messages = std::move(messages.messages);
    print_growth(machine, request.layout.nodes());
    request.fabric = fabric_option(arguments, machine, request.layout.nodes());
    return request;
}

TrafficFacts traffic_facts(const TrafficRequest& request, std::size_t top) {
    const Topology topology = request.machine.topology(request.layout.nodes(), request.fabric);
    const std::vector<TrafficMessage> messages = on_machine(request, topology);
    const Seconds host = request.calls == Calls::blocking ? request.library->blocking : Seconds{};
    TrafficFacts facts{.run = run_traffic(messages, topology, *request.library, request.preference, host)};
    std::vector<double> rates, times;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const SentMessage& sent = facts.run.messages[i];
        facts.bytes += messages[i].bytes;
        rates.push_back(sent.rate(messages[i].bytes).value);
        times.push_back((sent.arrival - messages[i].start).value);
    }
    for (const CarryingLink& link : facts.run.links) {
        facts.link_bytes += link.bytes;
        facts.meets_others |= has_background(request.fabric, topology.link(link.link).name);
    }
    facts.rates = spread_of(std::move(rates));
    facts.times = spread_of(std::move(times));
    facts.busiest = busiest_links(facts.run, topology, top);
    return facts;
}

}  // namespace weft
