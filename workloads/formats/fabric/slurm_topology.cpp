// How Slurm knows a network: topology.conf (SwitchName=, BlockName=) and topology.yaml (tree, block, flat). Keys:
// topology.conf(5) and topology.yaml(5) of SchedMD/slurm; src/plugins/topology/tree/switch_record.c.
//
// A tree says which switch hangs on which, not by how many cables: as many are assumed as let everything below a switch
// send upwards at once. LinkSpeed has no unit and Slurm itself does not use it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "sim/io/syntaxes.hpp"
#include "topologies/host_names.hpp"
#include "workloads/formats/fabric/cabled_machine.hpp"
#include "workloads/formats/keys.hpp"

namespace weft::formats {
namespace {

using Severity = FormatNote::Severity;

constexpr std::size_t most_hosts = std::size_t{1} << 18, most_slurm_switches = std::size_t{1} << 16;
constexpr std::size_t most_mistakes = 20;  // of a file of another kind

struct SlurmSwitch {
    std::string name;
    std::vector<std::string> nodes, children;
    Origin origin;
};

struct SlurmTree {
    std::vector<SlurmSwitch> switches;
    std::vector<Origin> blocks, flat;  // where these are
    std::vector<Diagnostic> mistakes;
    std::size_t expanded = 0;  // names in all

    void mistake(const Origin& origin, std::string message) {
        if (mistakes.size() < most_mistakes)
            mistakes.push_back(
                {.file = origin.file, .line = origin.line, .key = origin.key, .message = std::move(message)});
    }
    std::vector<std::string> expand(std::string_view list, const Origin& origin) {
        HostNames found = expand_host_names(list, most_hosts - std::min(most_hosts, expanded));
        expanded += found.names.size();
        if (!found.mistake.empty()) {
            mistake(origin,
                    expanded < most_hosts ? found.mistake : fmt::format("more than {} names in all", most_hosts));
        }
        return std::move(found.names);
    }
};

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

// "switchname" of "  SwitchName = s0"; empty if the line is none.
std::string first_key(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t"), equals = line.find('=');
    if (begin == line.npos || equals == line.npos || equals < begin) return {};
    const std::size_t end = line.find_last_not_of(" \t", equals - 1);
    return lower_case(line.substr(begin, end + 1 - begin));
}

template <class Take>
void each_line(std::string_view text, Take take) {
    int number = 1;
    for (std::size_t begin = 0; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        if (!take(text.substr(begin, end - begin), number)) return;
        begin = end + 1;
    }
}

bool is_yaml(const SourceFile& file) {
    bool topology = false, kind = false;
    each_line(file.text, [&](std::string_view line, int number) {
        const std::size_t begin = line.find_first_not_of(" \t-");
        const std::string_view word = begin == line.npos ? std::string_view{} : line.substr(begin);
        topology = topology || word.starts_with("topology:");
        kind = kind || word.starts_with("tree:") || word.starts_with("block:") || word.starts_with("flat:");
        return number < 1000 && !(topology && kind);
    });
    return topology && kind;
}

bool recognises(const SourceFile& file) {
    bool found = false;
    each_line(file.text, [&](std::string_view line, int number) {
        const std::string key = first_key(line);
        found = key == "switchname" || key == "blockname" || key == "blocksizes";
        return !found && number < 1000;
    });
    return found || is_yaml(file);
}

// Lines of "Key=Value Key=Value", keys of any case, values quoted or not.
class SlurmLines {
  public:
    SlurmLines(Import& import, const SourceFile& file) : import_(import), file_(file) {}

    SlurmTree read() {
        std::string joined;
        int first = 0;
        each_line(file_.text, [&](std::string_view line, int number) {
            line = line.substr(0, line.find('#'));
            line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
            if (joined.empty()) first = number;
            const bool goes_on = line.ends_with('\\');
            joined += line.substr(0, line.size() - (goes_on ? 1 : 0));
            if (goes_on) return true;
            read_line(joined, first);
            joined.clear();
            return tree_.mistakes.size() < most_mistakes;
        });
        if (!joined.empty()) read_line(joined, first);
        return std::move(tree_);
    }

  private:
    Origin at(int line, std::string_view key) const {
        return {.file = file_.path, .line = line, .key = std::string(key)};
    }

    void read_line(std::string_view line, int number) {
        std::map<std::string, std::string> values;
        for (std::size_t begin = line.find_first_not_of(" \t"); begin < line.size();) {
            const std::size_t equals = line.find('=', begin);
            const std::string_view key = line.substr(begin, std::min(equals, line.size()) - begin);
            if (equals == line.npos || key.empty() || key.find_first_of(" \t") != key.npos)
                return tree_.mistake(at(number, ""),
                                     fmt::format("expected Key=Value, got \"{}\"", line.substr(begin, 80)));
            const bool quoted = line.substr(equals + 1).starts_with('"');
            const std::size_t from = equals + 1 + (quoted ? 1 : 0);
            const std::size_t end = std::min(line.find_first_of(quoted ? "\"" : " \t", from), line.size());
            values[lower_case(key)] = line.substr(from, end - from);
            begin = line.find_first_not_of(" \t", std::min(end + (quoted ? 1 : 0), line.size()));
        }
        if (!values.empty()) take(values, number);
    }

    void take(std::map<std::string, std::string>& values, int number) {
        if (values.contains("blockname") || values.contains("blocksizes")) {
            return tree_.blocks.push_back(at(number, values.contains("blockname") ? "BlockName" : "BlockSizes"));
        }
        SlurmSwitch one{.name = values["switchname"], .nodes = {}, .children = {}, .origin = at(number, "SwitchName")};
        if (one.name.empty()) return tree_.mistake(at(number, values.begin()->first), "expected a SwitchName");
        for (const auto& [key, value] : values) {
            if (key == "nodes") {
                one.nodes = tree_.expand(value, at(number, "Nodes"));
            } else if (key == "switches") {
                one.children = tree_.expand(value, at(number, "Switches"));
            } else if (key == "linkspeed") {
                import_.without_effect.push_back(at(number, "LinkSpeed"));
            } else if (key != "switchname") {
                import_.note(Severity::note, at(number, key), "not known to weft, and left out");
            }
        }
        tree_.switches.push_back(std::move(one));
    }

    Import& import_;
    const SourceFile& file_;
    SlurmTree tree_;
};

void read_yaml_switches(Import& import, Field tree, SlurmTree& into) {
    for (Field& field : tree.list("switches")) {
        SlurmSwitch one{.name = field.text("switch"), .nodes = {}, .children = {}, .origin = field.origin("switch")};
        if (field.has("nodes")) one.nodes = into.expand(field.text("nodes"), field.origin("nodes"));
        if (field.has("children")) one.children = into.expand(field.text("children"), field.origin("children"));
        without_effect(import, field, {"link_speed"});
        note_rest(import, field);
        into.switches.push_back(std::move(one));
    }
}

bool has_true(Field& field, std::string_view key) { return field.is_flag(key) && field.flag(key); }

// A list of topologies, of which Slurm uses the default of the cluster, or the first.
SlurmTree read_yaml(Import& import, const SourceFile& file) {
    Document document = parse_yaml(file.path, file.text);
    std::vector<Field> topologies = document.root().elements();
    SlurmTree into;
    document.check();
    if (topologies.empty()) into.mistake({.file = file.path, .line = 0, .key = {}}, "expected a topology");
    std::size_t chosen = 0;
    for (std::size_t i = topologies.size(); i-- > 0;) {
        if (has_true(topologies[i], "cluster_default")) chosen = i;
    }
    for (std::size_t i = 0; i < topologies.size(); ++i) {
        Field& one = topologies[i];
        if (i != chosen) {
            import.note(Severity::note, one.origin("topology"), "is not the default of the cluster, and left out");
            continue;
        }
        if (one.has("tree")) read_yaml_switches(import, one.object("tree"), into);
        if (one.has("block")) into.blocks.push_back(one.origin("block"));
        if (one.has("flat")) into.flat.push_back(one.origin("flat"));
        one.text("topology", "");
        note_rest(import, one);
    }
    document.check();
    return into;
}

// The switches as a graph without circles, by number.
struct Hierarchy {
    std::vector<std::vector<std::uint32_t>> children, parents;
    std::vector<std::uint32_t> order;  // each behind all its children
    std::vector<std::uint32_t> level;  // of a switch with no switch below it: 1

    std::uint32_t levels() const { return level.empty() ? 0 : *std::ranges::max_element(level); }
};

Hierarchy hierarchy_of(SlurmTree& tree) {
    const std::size_t count = tree.switches.size();
    std::map<std::string_view, std::uint32_t> numbers;
    Hierarchy found{.children = {count, std::vector<std::uint32_t>{}},
                    .parents = {count, std::vector<std::uint32_t>{}},
                    .order = {},
                    .level = std::vector<std::uint32_t>(count, 1)};
    for (std::uint32_t i = 0; i < count; ++i) {
        const SlurmSwitch& one = tree.switches[i];
        const auto [first, is_new] = numbers.try_emplace(one.name, i);
        if (!is_new)
            tree.mistake(one.origin, fmt::format("\"{}\" stands here again, first in line {}", one.name,
                                                 tree.switches[first->second].origin.line));
    }
    std::vector<std::uint32_t> last_parent(count, ~0U);
    for (std::uint32_t i = 0; i < count; ++i) {
        for (const std::string& name : tree.switches[i].children) {
            const auto child = numbers.find(name);
            if (child == numbers.end()) {
                tree.mistake(tree.switches[i].origin, fmt::format("\"{}\" has no line of its own", name));
            } else if (std::exchange(last_parent[child->second], i) != i) {
                found.children[i].push_back(child->second);
                found.parents[child->second].push_back(i);
            }
        }
    }
    std::vector<std::size_t> open(count);  // children that are not in the order yet
    for (std::uint32_t i = 0; i < count; ++i) {
        open[i] = found.children[i].size();
        if (open[i] == 0) found.order.push_back(i);
    }
    for (std::size_t i = 0; i < found.order.size(); ++i) {
        const std::uint32_t here = found.order[i];
        for (const std::uint32_t parent : found.parents[here]) {
            found.level[parent] = std::max(found.level[parent], found.level[here] + 1);
            if (--open[parent] == 0) found.order.push_back(parent);
        }
    }
    for (std::uint32_t i = 0; i < count && found.order.size() < count; ++i) {
        if (open[i] > 0)
            tree.mistake(tree.switches[i].origin,
                         fmt::format("\"{}\" is in a circle of switches, or above one", tree.switches[i].name));
    }
    return found;
}

// Every switch sends upwards what all below it send; its parents share that.
std::uint64_t cable_upwards(const Hierarchy& tree, std::vector<std::uint64_t> below, CabledFabric::Cables& cables) {
    std::uint64_t most = 0;
    for (const std::uint32_t here : tree.order) {
        const std::size_t parents = tree.parents[here].size();
        if (parents == 0 || below[here] == 0) continue;
        const std::uint64_t each = (below[here] + parents - 1) / parents;
        most = std::max(most, each);
        for (const std::uint32_t parent : tree.parents[here]) {
            cables.between[{here, parent}] = static_cast<std::uint32_t>(std::min<std::uint64_t>(each, ~0U));
            below[parent] += each;
        }
    }
    return most;
}

void place_nodes(SlurmTree& tree, const Hierarchy& hierarchy, CabledFabric& fabric) {
    std::map<std::string, std::uint32_t> seen;
    // Nodes that are near to each other get numbers that are: from the tops downwards, as listed.
    std::vector<std::uint32_t> stack;
    std::vector<std::uint8_t> visited(tree.switches.size());
    for (std::uint32_t i = static_cast<std::uint32_t>(tree.switches.size()); i-- > 0;) {
        if (hierarchy.parents[i].empty()) stack.push_back(i);
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
        const std::vector<std::uint32_t>& children = hierarchy.children[here];
        stack.insert(stack.end(), children.rbegin(), children.rend());
    }
}

void refuse_others(Import& import, const SlurmTree& tree) {
    for (const Origin& block : tree.blocks) {
        import.note(Severity::error, block,
                    "blocks say which nodes sit together, not how they are cabled: a tree of switches is needed, or a "
                    "machine of weft whose nodes are as large as a block");
        break;  // one says it all
    }
    for (const Origin& flat : tree.flat)
        import.note(Severity::error, flat, "a flat topology says nothing about switches and cables");
}

Import read(std::span<const SourceFile> files, const FormatOptions& options) {
    if (files.size() > 1) {
        throw ConfigError({Diagnostic{.file = files[1].path, .key = {}, .message = "one topology of Slurm is read"}});
    }
    const SourceFile& file = files.front();
    Import import;
    import.kind = FormatKind::machine;
    SlurmTree tree = is_yaml(file) ? read_yaml(import, file) : SlurmLines(import, file).read();
    const Origin whole{.file = file.path, .line = 0, .key = {}};
    refuse_others(import, tree);
    if (tree.switches.size() > most_slurm_switches)
        tree.mistake(whole, fmt::format("more than {} switches", most_slurm_switches));
    if (!tree.mistakes.empty()) throw ConfigError(std::move(tree.mistakes));
    const Hierarchy hierarchy = hierarchy_of(tree);
    CabledFabric fabric{
        .title = "nodes on a tree of switches as Slurm has it", .switches = {}, .cables = {}, .nodes = {}};
    for (const SlurmSwitch& one : tree.switches) fabric.switches.push_back(one.name);
    place_nodes(tree, hierarchy, fabric);
    if (fabric.nodes.empty() && !import.has_errors()) tree.mistake(whole, "no switch has nodes");
    if (fabric.nodes.size() > most_hosts) tree.mistake(whole, fmt::format("more than {} nodes", most_hosts));
    if (!tree.mistakes.empty()) throw ConfigError(std::move(tree.mistakes));
    import.facts = {{"hosts_named", std::to_string(fabric.nodes.size())},
                    {"switches", std::to_string(fabric.switches.size())},
                    { "levels",
                      std::to_string(hierarchy.levels()) }};
    const std::optional<LikeNode> like = like_node(import, options);
    if (!like || import.has_errors()) return import;

    fabric.nics = like->nics();
    fabric.port_gbit = like->port_gbit();
    std::vector<std::uint64_t> below(fabric.switches.size());
    for (const CabledNode& node : fabric.nodes) below[node.switches.front()] += fabric.nics;
    CabledFabric::Cables cables{.gbit = like->port_gbit(), .between = {}};
    const std::uint64_t most = cable_upwards(hierarchy, std::move(below), cables);
    if (!cables.between.empty()) {
        fabric.cables["fabric.uplink"] = std::move(cables);
        import.note(
            Severity::warning, {.file = file.path, .line = 0, .key = "network.cables"},
            fmt::format("the file does not say how many cables lead up from a switch: as many are assumed as let "
                        "all below it send at once (up to {}, of {:g} Gbit/s each, as the ports of {})",
                        most, like->port_gbit(), like->extends));
    }
    if (fabric.nics > 1) {
        import.note(
            Severity::note, {.file = file.path, .line = 0, .key = "network.nodes"},
            fmt::format("Slurm knows one switch of a node: all {} NICs of it are plugged in there", fabric.nics));
    }
    write_cabled_machine(import, fabric, *like, file);
    return import;
}

}  // namespace

extern const Format slurm_topology;
const Format slurm_topology{"slurm-topology", "network topology of Slurm", recognises, read};

}  // namespace weft::formats
