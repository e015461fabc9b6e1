#include "topologies/machine.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"
#include "topologies/block_router.hpp"
#include "topologies/blocks/block.hpp"
#include "topologies/other_traffic.hpp"

namespace weft {

struct Machine::Blocks {
    Table<LinkClassId, LinkClass> classes;
    NodePlan node;
    std::shared_ptr<const Network> network;

    mutable std::mutex mutex{};  // guards `sized`
    mutable std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<const Blocks>> sized{};
};

namespace {

using NodeReader = decltype(BlockKind::read_node);
using NetworkReader = decltype(BlockKind::read_network);

// The reader of the kind that `block` names, among those that have one; null after an error, since what is read as
// another kind would have mistakes that nobody made.
template <class Reader>
Reader reader_of(Field& block, Reader BlockKind::*reader) {
    const auto has_one = [&](const BlockKind* kind) { return kind->*reader != nullptr; };
    const std::string name = block.choice("kind", list_of_those<std::string>(blocks::all(), has_one, &BlockKind::name));
    if (!block.says("kind", name)) return nullptr;
    return first_of(blocks::all(), [&](const BlockKind* kind) { return kind->name == name; })->*reader;
}

NodeNames read_listed_names(Field& root, std::uint32_t nodes) {
    NodeNames names;
    names.listed = list_of<std::string>(root.list("node_names"), &Field::as_text);
    root.error_if(names.listed.size() != nodes, "node_names", "expected the names of the {} nodes, got {}", nodes,
                  names.listed.size());
    std::vector<std::string> sorted = names.listed;
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) root.error("node_names", "two nodes are called \"{}\"", *twice);
    return names;
}

//   "node_names": { "prefix": "nid", "first": 1000, "digits": 6, "source": "..." }   // nid001000, nid001001, ...
//   "node_names": ["login-a", "gpu7", ...]                              // node by node
std::optional<NodeNames> read_node_names(Field& root, std::uint32_t nodes) {
    if (!root.has("node_names")) return std::nullopt;
    if (!root.is_object("node_names")) return read_listed_names(root, nodes);
    Field field = root.object("node_names");
    NodeNames names{.prefix = field.text("prefix"), .first = field.whole("first"), .digits = field.count("digits", 1)};
    constexpr std::uint32_t most_digits = 10;  // a node's number has no more
    if (names.digits > most_digits) {
        field.error("digits", "expected at most {}, got {}", most_digits, std::exchange(names.digits, 1));
    }
    field.text("source", "");
    field.done();
    return names;
}

void check_placement(const MachineInfo& machine, std::uint32_t nodes, std::span<const std::uint32_t> placement) {
    if (placement.empty()) return;
    if (placement.size() != nodes) {
        throw RangeError("a placement of {} nodes for a job of {}", placement.size(), nodes);
    }
    std::vector<std::uint8_t> taken(machine.nodes);
    for (const std::uint32_t node : placement) {
        if (node >= machine.nodes) {
            throw RangeError("{} has nodes 0 to {}, not {}", machine.name, machine.nodes - 1, node);
        }
        if (taken[node]++ > 0) throw RangeError("a placement has node {} twice", node);
    }
}

// A path is meant from the folder of the file that says it.
std::string read_device_name(Field& root) {
    const std::string name = root.text("device"), file = root.origin("device").file;
    if (!is_path(name)) return name;
    const std::filesystem::path from(file.empty() ? std::string(root.document_name()) : file);
    return (from.parent_path() / name).lexically_normal().string();
}

// What operations cost may be known of a host of which nothing else is.
void read_host(Field field, MachineInfo& info) {
    if (field.has("operation"))
        info.host_operation = sourced(field, "operation", [](Field& cost) { return cost.duration("value"); });
    const bool alone = field.has("operation") && !field.has("link");
    if (alone) return field.done();
    HostInfo host{.link = read_rate(field.object("link")).reached,
                  .memory = {},
                  .memory_bandwidth = read_rate(field.object("memory_bandwidth")).reached,
                  .drives_read = {},
                  .drives_write = {}};
    host.memory = sourced(field, "memory", [](Field& memory) { return memory.bytes("value"); });
    if (field.has("drives")) {
        Field drives = field.object("drives");
        host.drives_read = read_rate(drives.object("read")).reached;
        host.drives_write = read_rate(drives.object("write")).reached;
        drives.done();
    }
    field.text("source", "");
    field.done();
    info.host = host;
}

// Their names, each once.
std::vector<std::string> classes_of(const std::vector<LinkRun>& links, const Table<LinkClassId, LinkClass>& classes) {
    const auto has_links = [](const LinkRun& run) { return run.links > 0; };
    const auto name = [&](const LinkRun& run) { return classes[run.link_class].name; };
    return each_once(list_of_those<std::string>(links, has_links, name));
}

constexpr std::uint64_t most_ranks = std::uint64_t{1} << 31;

std::string stem(std::string_view path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

Machine Machine::read(Document document) {
    std::optional<Machine> machine = read(document.root(), stem(document.name()));
    document.check();
    return *std::move(machine);
}

std::optional<Machine> Machine::read(Field root, std::string name) {
    MachineInfo info;
    const std::optional<std::string> base = extend(root, [](const std::string& other) { return open_machine(other); });
    extend_libraries(root);
    info.name = name.empty() ? changed_name(base.value_or("machine")) : std::move(name);
    info.title = root.text("title");
    root.text("source", "");
    for (Field& each : root.list_if_given("also")) each.as_text();  // other names, for sim/io/shipped
    info.device = read_device_name(root);
    info.nodes = root.count("nodes");

    auto parts = std::make_shared<Blocks>();
    const LinkClasses classes(root.object("links"));
    parts->classes = classes.table();
    Field node = root.object("node");
    const NodeReader read_node = reader_of(node, &BlockKind::read_node);
    if (read_node != nullptr) parts->node = read_node(node, classes);
    const auto nics = static_cast<std::uint32_t>(parts->node.nics.size());
    if (std::uint64_t{info.nodes} * parts->node.accelerators > most_ranks) {
        root.error("nodes", "{} nodes of {} accelerators are more than {} ranks", info.nodes, parts->node.accelerators,
                   most_ranks);
        info.nodes = 1;
    }

    Field network = root.object("network");
    info.routing = read_routing(network, network.text("routing", "minimal"));
    const NetworkReader read_network = reader_of(network, &BlockKind::read_network);
    if (read_network != nullptr && read_node != nullptr) {  // a network has ports for the NICs of a node
        parts->network = read_network(network, classes, {info.nodes, std::max(nics, 1U), parts->node.pxn});
    }
    if (parts->node.uses > 0) parts->node.leave_idle(parts->node.uses);
    info.libraries = read_libraries(root);
    if (root.has("host")) read_host(root.object("host"), info);
    info.operation = read_operation(root);
    info.node_names = read_node_names(root, info.nodes);
    for (const LinkClass& link_class : parts->classes) info.link_classes.push_back(link_class.name);
    root.done();
    if (root.has_errors()) return std::nullopt;

    return Machine(std::move(info), std::move(parts));
}

// What follows from the blocks.
Machine::Machine(MachineInfo info, std::shared_ptr<const Blocks> blocks)
    : info_(std::move(info)), blocks_(std::move(blocks)) {
    const Network& network = *blocks_->network;
    info_.most_nodes = std::max(info_.nodes, network.most_nodes());
    info_.accelerators_per_node = blocks_->node.accelerators;
    info_.idle_per_node = blocks_->node.idle;
    info_.accelerators_per_package = blocks_->node.accelerators_per_package;
    info_.nics_per_node = static_cast<std::uint32_t>(blocks_->node.nics.size());
    info_.switch_classes = classes_of(network.links(), blocks_->classes);
    info_.neighbourhoods = network.neighbourhoods();
    info_.bisection = network.bisection(blocks_->classes);
    info_.nic = blocks_->classes[network.port_class()].bandwidth;
}

Machine Machine::sized(std::uint32_t nodes, std::uint32_t accelerators) const {
    if (nodes <= info_.nodes && accelerators == info_.accelerators_per_node) return *this;
    if (nodes > info_.most_nodes || std::uint64_t{nodes} * accelerators > most_ranks) {
        throw RangeError("{} has 1 to {} nodes, not {}", info_.name, info_.most_nodes, nodes);
    }
    if (accelerators > info_.accelerators_per_node || accelerators % info_.accelerators_per_package != 0) {
        throw RangeError("a node of {} has {} accelerators in packages of {}, not {}", info_.name,
                         info_.accelerators_per_node, info_.accelerators_per_package, accelerators);
    }
    MachineInfo info = info_;
    info.nodes = std::max(info.nodes, nodes);
    const std::lock_guard lock(blocks_->mutex);
    std::shared_ptr<const Blocks>& known = blocks_->sized[{info.nodes, accelerators}];
    if (known == nullptr) {
        auto parts = std::make_shared<Blocks>();
        parts->classes = blocks_->classes;
        parts->node = blocks_->node;
        parts->node.leave_idle(accelerators);
        parts->network = info.nodes > info_.nodes ? blocks_->network->grown(info.nodes) : blocks_->network;
        known = std::move(parts);
    }
    return Machine(std::move(info), known);
}

Document open_machine(std::string_view name) {
    if (std::optional<NamedDocument> found = find_shipped(embedded::machines(), name)) {
        extend_libraries(found->document.root());  // so that a machine that extends it may change what they say
        return found->document;
    }
    const std::vector<std::string> known = machine_names(), near = nearest_shipped(embedded::machines(), name);
    throw ConfigError(
        {{.file = {},
          .key = "machine",
          .message = fmt::format("no machine is called \"{}\"{} (known: {}; or the path of a machine file)", name,
                                 did_you_mean(near), fmt::join(known, ", "))}});
}

Machine Machine::load(std::string_view name) { return read(open_machine(name)); }

const Library* MachineInfo::find_library(std::string_view library) const {
    return first_of(libraries, [&](const Library& each) { return each.name == library; });
}

void MachineInfo::prefer(std::string_view library) {
    std::stable_partition(libraries.begin(), libraries.end(),
                          [&](const Library& each) { return each.name == library; });
}

std::string MachineInfo::growth(std::uint32_t asked) const {
    if (asked <= nodes) return {};
    return fmt::format(
        "{} as it would be with {} nodes: more leaves and the switches above that join them ({} are "
        "described)",
        name, asked, nodes);
}

Topology Machine::topology(std::uint32_t nodes, const Fabric& fabric) const {
    if (nodes == 0 || nodes > info_.most_nodes) {
        throw RangeError("{} has 1 to {} nodes, not {}", info_.name, info_.most_nodes, nodes);
    }
    if (nodes > info_.nodes) return sized(nodes, info_.accelerators_per_node).topology(nodes, fabric);
    check_placement(info_, nodes, fabric.placement);
    const RouteChoice choice = fabric.routing.value_or(info_.routing);
    Seating seating{.nodes = fabric.placement, .hash_seed = {}};
    if (choice.routing == Routing::ecmp) seating.hash_seed = choice.seed;
    const std::uint32_t reached = seating.nodes.empty() ? nodes : *std::ranges::max_element(seating.nodes) + 1;
    Topology topology = build_topology(info_.name, nodes, blocks_->node, blocks_->classes,
                                       blocks_->network->first(reached), std::move(seating));
    topology.routing = choice.routing;
    add_other_traffic(topology, fabric);
    add_link_faults(topology, fabric.link_faults);
    return topology;
}

std::vector<std::string> machine_names() { return shipped_names(embedded::machines()); }

}  // namespace weft
