// The network of a machine as Slurm's topology.conf: which nodes share a leaf switch, which leaves are near to each
// other. Keys: topology.conf(5) of SchedMD/slurm. Slurm knows a tree of switches without cables: spines that join the
// same leaves are one switch there, and so is the set of leaves that the NICs of a node are plugged into.
#include <fmt/format.h>

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <map>
#include <queue>
#include <utility>

#include "topologies/host_names.hpp"
#include "workloads/exports/export.hpp"

namespace weft::exports {
namespace {

using Parts = boost::disjoint_sets_with_storage<>;  // which of some things belong together

// The switches of a topology from 0, and how far each is above the nodes.
class SwitchGraph {
  public:
    SwitchGraph(const Topology& topology, std::uint32_t nics)
        : nics_(nics), first_(topology.vertices() - topology.vertices_of(NodeKind::network_switch)) {
        const std::uint32_t nodes = topology.ranks / topology.ranks_per_node;
        level_.assign(topology.vertices() - first_, none);
        for (std::uint32_t nic = 0; nic < nodes * nics_; ++nic) {
            leaves_.push_back(number(topology.head(topology.wiring->port(nic))));
            level_[leaves_.back()] = 0;
        }
        for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
            const LinkEnds ends = topology.ends(link);
            if (topology.wiring->joins_switches(link)) cables_.emplace_back(number(ends.tail), number(ends.head));
        }
        std::ranges::sort(cables_);
        cables_.erase(std::unique(cables_.begin(), cables_.end()), cables_.end());
        find_levels();
    }

    std::uint32_t switches() const { return static_cast<std::uint32_t>(level_.size()); }
    std::uint32_t leaf(std::uint32_t node, std::uint32_t nic) const { return leaves_[std::size_t{node} * nics_ + nic]; }
    std::uint32_t nics() const { return nics_; }
    std::uint32_t levels() const {
        std::uint32_t most = 0;
        for (const std::uint32_t level : level_) most = std::max(most, level == none ? 0 : level + 1);
        return most;
    }
    bool joins_leaves() const {
        return std::ranges::any_of(cables_,
                                   [&](const auto& c) { return level_[c.first] == 0 && level_[c.second] == 0; });
    }
    // Joins what cables between two levels join.
    void join(std::uint32_t low, std::uint32_t high, Parts& parts) const {
        for (const auto& [a, b] : cables_) {
            if (level_[a] == low && level_[b] == high) parts.union_set(a, b);
        }
    }

  private:
    static constexpr std::uint32_t none = ~0U;

    std::uint32_t number(NodeId vertex) const { return static_cast<std::uint32_t>(vertex) - first_; }

    void find_levels() {
        std::vector<std::vector<std::uint32_t>> beside(level_.size());
        for (const auto& [a, b] : cables_) beside[a].push_back(b);
        std::queue<std::uint32_t> open;
        for (std::uint32_t i = 0; i < level_.size(); ++i) {
            if (level_[i] == 0) open.push(i);
        }
        for (; !open.empty(); open.pop()) {
            for (const std::uint32_t other : beside[open.front()]) {
                if (level_[other] != none) continue;
                level_[other] = level_[open.front()] + 1;
                open.push(other);
            }
        }
    }

    std::uint32_t nics_, first_;
    std::vector<std::uint32_t> level_;   // 0: a leaf
    std::vector<std::uint32_t> leaves_;  // by node and NIC
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cables_;
};

// What each switch of one height of the tree has below it: nodes, or switches of the height below.
using Height = std::vector<std::vector<std::uint32_t>>;

// Nodes by what stands for them.
template <class Key>
Height grouped(std::uint32_t nodes, Key key) {
    std::map<decltype(key(0U)), std::size_t> numbers;
    Height groups;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        const auto [place, is_new] = numbers.try_emplace(key(node), groups.size());
        if (is_new) groups.emplace_back();
        groups[place->second].push_back(node);
    }
    return groups;
}

// The leaves, and from below what joins the nodes of several of them.
std::vector<Height> partitions(const SwitchGraph& graph, const MachineInfo& info) {
    std::vector<Height> found;
    found.push_back(grouped(info.nodes, [&](std::uint32_t node) {
        std::vector<std::uint32_t> leaves;
        for (std::uint32_t nic = 0; nic < graph.nics(); ++nic) leaves.push_back(graph.leaf(node, nic));
        return leaves;
    }));
    if (graph.joins_leaves()) {  // groups of a dragonfly or planes of a torus, which have no switches above
        for (const std::uint32_t nodes : info.neighbourhoods)
            found.push_back(grouped(info.nodes, [&](std::uint32_t node) { return node / nodes; }));
        found.push_back(grouped(info.nodes, [](std::uint32_t) { return 0; }));
        return found;
    }
    Parts parts(graph.switches());
    for (const std::vector<std::uint32_t>& nodes : found.front()) {
        for (std::uint32_t nic = 1; nic < graph.nics(); ++nic)
            parts.union_set(graph.leaf(nodes[0], 0), graph.leaf(nodes[0], nic));
    }
    for (std::uint32_t level = 1; level < graph.levels(); ++level) {
        for (const std::uint32_t low : {level - 1, level}) {
            graph.join(low, level, parts);
            found.push_back(
                grouped(info.nodes, [&](std::uint32_t node) { return parts.find_set(graph.leaf(node, 0)); }));
        }
    }
    return found;
}

std::string name_of(const MachineInfo& info, std::uint32_t node) {
    if (info.node_names) return info.node_names->name(node);
    return fmt::format("node{}", node);
}

std::string leaf_lines(const Height& leaves, const MachineInfo& info) {
    std::string text;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        std::vector<std::string> names;
        for (const std::uint32_t node : leaves[i]) names.push_back(name_of(info, node));
        text += fmt::format("SwitchName=leaf{} Nodes={}\n", i, compress_host_names(names));
    }
    return text;
}

std::string write_slurm_topology(const Machine& machine) {
    const MachineInfo& info = machine.info();
    const SwitchGraph graph(machine.topology(info.nodes), info.nics_per_node);
    const std::vector<Height> heights = partitions(graph, info);
    std::string text = fmt::format(
        "# {}: {} nodes. What hangs on one leaf here has all its NICs on the same switches.\n", info.name, info.nodes);
    if (!info.node_names) text += "# The machine file has no \"node_names\": nodes are called by their numbers.\n";
    text += leaf_lines(heights.front(), info);
    // Of each node, the switch of the last height that was written.
    std::vector<std::string> top(info.nodes);
    for (std::size_t i = 0; i < heights.front().size(); ++i) {
        for (const std::uint32_t node : heights.front()[i]) top[node] = fmt::format("leaf{}", i);
    }
    std::size_t written = heights.front().size(), height = 0;
    for (const Height& groups : heights) {
        if (groups.size() >= written) continue;  // joins nothing
        written = groups.size();
        ++height;
        std::size_t number = 0;
        for (const std::vector<std::uint32_t>& nodes : groups) {
            std::vector<std::string> below;
            for (const std::uint32_t node : nodes) {
                if (std::ranges::find(below, top[node]) == below.end()) below.push_back(top[node]);
            }
            if (below.size() == 1) continue;  // stays what it is
            const std::string name = fmt::format("height{}.{}", height, number++);
            text += fmt::format("SwitchName={} Switches={}\n", name, compress_host_names(below));
            for (const std::uint32_t node : nodes) top[node] = name;
        }
    }
    return text;
}

}  // namespace

extern const ExportFormat slurm_topology;
const ExportFormat slurm_topology{"slurm-topology", "network topology of Slurm", nullptr, write_slurm_topology};

}  // namespace weft::exports
