#include "topologies/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/io/shipped.hpp"
#include "topologies/block_router.hpp"
#include "topologies/blocks/block.hpp"

namespace weft {

struct Machine::Blocks {
    Table<LinkClassId, LinkClass> classes;
    NodePlan node;
    std::unique_ptr<const Network> network;
};

namespace {

using NodeReader = decltype(BlockKind::read_node);
using NetworkReader = decltype(BlockKind::read_network);

// The reader of the kind that `block` names, among those that have one; null after an error.
template <class Reader>
Reader reader_of(Field& block, Reader BlockKind::*reader) {
    std::vector<std::string> names;
    for (const BlockKind* kind : blocks::all()) {
        if (kind->*reader != nullptr) names.emplace_back(kind->name);
    }
    const std::string name = block.choice("kind", names);
    for (const BlockKind* kind : blocks::all()) {
        if (kind->name == name) return kind->*reader;
    }
    return nullptr;
}

// { "value": "2.4 us", "source": "..." }
Seconds sourced_duration(Field& parent, std::string_view key) {
    Field field = parent.object(key);
    const Seconds value = field.duration("value");
    field.text("source");
    field.done();
    return value;
}

double sourced_efficiency(Field& parent, std::string_view key) {
    Field field = parent.object(key);
    const double value = field.number("value");
    if (!(value > 0.0 && value <= 1.0)) {
        field.error("value", fmt::format("expected a number above 0 and at most 1, got {}", value));
    }
    field.text("source");
    field.done();
    return value;
}

LibraryCost read_library(Field& field) {
    return {.launch = sourced_duration(field, "launch"),
            .step_in_node = sourced_duration(field, "step_in_node"),
            .step_across = sourced_duration(field, "step_across"),
            .efficiency_in_node = sourced_efficiency(field, "efficiency_in_node"),
            .efficiency_across = sourced_efficiency(field, "efficiency_across")};
}

std::string stem(std::string_view path) { return std::filesystem::path(path).stem().string(); }

}  // namespace

Machine Machine::read(Document document) {
    Field root = document.root();
    MachineInfo info;
    info.name = stem(document.name());
    info.title = root.text("title");
    root.text("source");
    info.device = root.text("device");
    info.nodes = root.count("nodes");

    auto parts = std::make_shared<Blocks>();
    const LinkClasses classes(root.object("links"));
    parts->classes = classes.table();
    Field node = root.object("node");
    if (const NodeReader read_node = reader_of(node, &BlockKind::read_node)) parts->node = read_node(node, classes);
    info.accelerators_per_node = parts->node.accelerators;
    info.accelerators_per_package = parts->node.accelerators_per_package;
    info.nics_per_node = static_cast<std::uint32_t>(parts->node.nics.size());

    Field network = root.object("network");
    if (const NetworkReader read_network = reader_of(network, &BlockKind::read_network)) {
        parts->network = read_network(network, classes, {info.nodes, std::max(info.nics_per_node, 1U)});
    }
    Field library = root.object("library");
    info.library = library.text("name");
    info.library_cost = read_library(library);
    library.done();
    root.done();
    document.check();

    info.neighbourhoods = parts->network->neighbourhoods();
    info.bisection = parts->network->bisection(parts->classes);
    Machine machine(std::move(info));
    machine.blocks_ = std::move(parts);
    return machine;
}

Machine Machine::load(std::string_view name) {
    if (std::optional<NamedDocument> found = find_shipped(embedded::machines(), name))
        return read(std::move(found->document));
    const std::vector<std::string> known = machine_names();
    std::string list;
    for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
    throw ConfigError(
        {{.file = {},
          .key = "machine",
          .message = fmt::format("no machine is called \"{}\"{} (known: {}; or the path of a machine file)", name,
                                 suggestion(name, known), list)}});
}

Topology Machine::topology(std::uint32_t nodes) const {
    if (nodes == 0 || nodes > info_.nodes) {
        throw RangeError(fmt::format("{} has 1 to {} nodes, not {}", info_.name, info_.nodes, nodes));
    }
    return build_topology(info_.name, nodes, blocks_->node, blocks_->classes, blocks_->network->first(nodes));
}

std::vector<std::string> machine_names() { return shipped_names(embedded::machines()); }

}  // namespace weft
