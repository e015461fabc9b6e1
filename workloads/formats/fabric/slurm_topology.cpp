// How Slurm knows a network, as a machine. A tree says which switch hangs on which, not by how many cables: as many are
// assumed as let everything below a switch send upwards at once. LinkSpeed has no unit and Slurm itself does not use
// it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "workloads/formats/fabric/fabric.hpp"

namespace weft::formats {
namespace {

constexpr std::size_t most_slurm_switches = std::size_t{1} << 16;

// Numbers what hangs on what; a name twice or without a line is a mistake.
void join_switches(SlurmTree& tree) {
    std::map<std::string_view, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < tree.switches.size(); ++i) {
        const SlurmSwitch& one = tree.switches[i];
        const auto [first, is_new] = numbers.try_emplace(one.name, i);
        if (!is_new)
            tree.mistake(one.origin, fmt::format("\"{}\" stands here again, first in line {}", one.name,
                                                 tree.switches[first->second].origin.line));
    }
    for (std::uint32_t i = 0; i < tree.switches.size(); ++i) {
        SlurmSwitch& one = tree.switches[i];
        for (const std::string& name : one.switches) {
            const auto child = numbers.find(name);
            if (child == numbers.end()) {
                tree.mistake(one.origin, fmt::format("\"{}\" has no line of its own", name));
                continue;
            }
            std::vector<std::uint32_t>& parents = tree.switches[child->second].parents;
            if (!parents.empty() && parents.back() == i) continue;
            parents.push_back(i);
            one.children.push_back(child->second);
        }
    }
}

// Sets levels. The switches, each behind all its children; those of circles, and above them, are mistakes.
std::vector<std::uint32_t> order_of(SlurmTree& tree) {
    std::vector<std::uint32_t> order;
    std::vector<std::size_t> open;  // children that are not in the order yet
    for (const SlurmSwitch& one : tree.switches) {
        if (one.children.empty()) order.push_back(static_cast<std::uint32_t>(open.size()));
        open.push_back(one.children.size());
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        const SlurmSwitch& here = tree.switches[order[i]];
        for (const std::uint32_t parent : here.parents) {
            std::uint32_t& level = tree.switches[parent].level;
            level = std::max(level, here.level + 1);
            if (--open[parent] == 0) order.push_back(parent);
        }
    }
    for (std::size_t i = 0; i < open.size(); ++i) {
        const SlurmSwitch& one = tree.switches[i];
        if (open[i] > 0)
            tree.mistake(one.origin, fmt::format("\"{}\" is in a circle of switches, or above one", one.name));
    }
    return order;
}

// Every switch sends upwards what all below it send; its parents share that. The most cables of a pair.
std::uint64_t cable_upwards(const SlurmTree& tree, std::span<const std::uint32_t> order,
                            std::vector<std::uint64_t> below, CabledFabric::Cables& cables) {
    std::uint64_t most = 0;
    for (const std::uint32_t here : order) {
        const std::vector<std::uint32_t>& parents = tree.switches[here].parents;
        if (parents.empty() || below[here] == 0) continue;
        const std::uint64_t each = (below[here] + parents.size() - 1) / parents.size();
        most = std::max(most, each);
        for (const std::uint32_t parent : parents) {
            cables.between[{here, parent}] = static_cast<std::uint32_t>(std::min<std::uint64_t>(each, ~0U));
            below[parent] += each;
        }
    }
    return most;
}

// Nodes that are near to each other get numbers that are: from the tops downwards, as listed.
void place_nodes(SlurmTree& tree, CabledFabric& fabric) {
    std::map<std::string, std::uint32_t> seen;
    std::vector<std::uint32_t> stack;
    std::vector<std::uint8_t> visited(tree.switches.size());
    for (std::uint32_t i = static_cast<std::uint32_t>(tree.switches.size()); i-- > 0;) {
        if (tree.switches[i].parents.empty()) stack.push_back(i);
    }
    while (!stack.empty()) {
        const std::uint32_t here = stack.back();
        stack.pop_back();
        if (visited[here]++ > 0) continue;
        for (const std::string& name : tree.switches[here].nodes) {
            const auto [first, is_new] = seen.try_emplace(name, here);
            if (is_new) {
                fabric.nodes.push_back({.name = name, .switches = {here}});
            } else {
                tree.mistake(tree.switches[here].origin, fmt::format("node \"{}\" hangs on \"{}\" already", name,
                                                                     tree.switches[first->second].name));
            }
        }
        const std::vector<std::uint32_t>& children = tree.switches[here].children;
        stack.insert(stack.end(), children.rbegin(), children.rend());
    }
}

void refuse_others(Import& import, const SlurmTree& tree) {
    if (!tree.blocks.empty())  // one says it all
        import.error(tree.blocks.front(),
                     "blocks say which nodes sit together, not how they are cabled: a tree of switches is needed, or a "
                     "machine of weft whose nodes are as large as a block");
    for (const Origin& flat : tree.flat) import.error(flat, "a flat topology says nothing about switches and cables");
}

void write_machine(Import& import, CabledFabric fabric, const SlurmTree& tree, std::span<const std::uint32_t> order,
                   const LikeMachine& like, const SourceFile& file) {
    fabric.nics = like.nics();
    fabric.port_gbit = like.port_gbit();
    std::vector<std::uint64_t> below(fabric.switches.size());
    for (const CabledNode& node : fabric.nodes) below[node.switches.front()] += fabric.nics;
    CabledFabric::Cables cables{.gbit = like.port_gbit(), .between = {}};
    const std::uint64_t most = cable_upwards(tree, order, std::move(below), cables);
    if (!cables.between.empty()) {
        fabric.cables["fabric.uplink"] = std::move(cables);
        import.warn(in_file(file.path, "network.cables"),
                    "the file does not say how many cables lead up from a switch: as many are assumed as "
                    "let all below it send at once (up to {}, of {:g} Gbit/s each, as the ports of {})",
                    most, like.port_gbit(), like.name);
    }
    if (fabric.nics > 1) {
        import.note(in_file(file.path, "network.nodes"),
                    "Slurm knows one switch of a node: all {} NICs of it are plugged in there", fabric.nics);
    }
    write_cabled_machine(import, fabric, like, file);
}

Import read_slurm_topology_files(std::span<const SourceFile> files, const FormatOptions& options) {
    const SourceFile& file = files.front();
    Import import;
    import.kind = FormatKind::machine;
    SlurmTree tree = read_slurm_tree(import, file);
    const Origin whole{.file = file.path, .line = 0, .key = {}};
    refuse_others(import, tree);
    if (tree.switches.size() > most_slurm_switches)
        tree.mistake(whole, fmt::format("more than {} switches", most_slurm_switches));
    if (!tree.mistakes.empty()) throw ConfigError(std::move(tree.mistakes));
    join_switches(tree);
    const std::vector<std::uint32_t> order = order_of(tree);
    CabledFabric fabric{.title = "nodes on a tree of switches as Slurm has it"};
    for (const SlurmSwitch& one : tree.switches) fabric.switches.push_back(one.name);
    place_nodes(tree, fabric);
    if (fabric.nodes.empty() && !import.has_errors()) tree.mistake(whole, "no switch has nodes");
    if (fabric.nodes.size() > most_slurm_hosts)
        tree.mistake(whole, fmt::format("more than {} nodes", most_slurm_hosts));
    if (!tree.mistakes.empty()) throw ConfigError(std::move(tree.mistakes));
    std::uint32_t levels = 0;
    for (const SlurmSwitch& one : tree.switches) levels = std::max(levels, one.level);
    import.facts = {{"hosts_named", std::to_string(fabric.nodes.size())},
                    {"switches", std::to_string(fabric.switches.size())},
                    { "levels",
                      std::to_string(levels) }};
    const std::optional<LikeMachine> like = like_node(import, options);
    if (like && !import.has_errors()) write_machine(import, std::move(fabric), tree, order, *like, file);
    return import;
}

}  // namespace

extern const Format slurm_topology{"slurm-topology", "network topology of Slurm", is_slurm_topology,
                                   read_slurm_topology_files, "one topology of Slurm is read"};

}  // namespace weft::formats
