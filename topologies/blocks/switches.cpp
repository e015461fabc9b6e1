// A network as it is cabled: switches, the cables between them, and which switch each NIC is plugged into.
//
// Numbering: switches as listed. Cables as listed, class by class and pair by pair: cable k of a pair [a, b] is the
// link from a to b and then the one back.
//
// Routes are shortest paths, as OpenSM's minimum-hop routing lays them (opensm(8), "Min Hop Algorithm") and as
// equal-cost routing of Ethernet does. Of n equal paths, cables of one pair counted apart, number (destination + salt)
// mod n is taken, where ports of one leaf have consecutive numbers, so that traffic to the NICs of a leaf spreads over
// the paths. Detours are other shortest paths.
#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "topologies/blocks/networks.hpp"
#include "topologies/blocks/shortest_paths.hpp"

namespace weft::blocks {
namespace {

constexpr std::uint64_t most_switches = std::uint64_t{1} << 20;
constexpr std::uint64_t most_links = std::uint64_t{1} << 30;

class Switches final : public Network {
  public:
    explicit Switches(std::shared_ptr<const ShortestPaths> paths) : paths_(std::move(paths)) {}

    // Paths between any two nodes may lead past any switch.
    std::unique_ptr<const Network> first(std::uint32_t /*nodes*/) const override {
        return std::make_unique<Switches>(paths_);
    }
    std::uint32_t switches() const override { return cabling().switches; }
    LinkClassId port_class() const override { return cabling().port; }
    std::uint32_t leaf(Port port) const override { return paths_->leaf(port); }

    std::vector<LinkRun> links() const override {
        std::vector<LinkRun> runs;
        for (const Bundle& bundle : cabling().bundles) {
            if (runs.empty() || runs.back().link_class != bundle.link_class) runs.push_back({bundle.link_class, 0});
            runs.back().links += 2 * bundle.cables;
        }
        return runs;
    }

    std::string name(std::uint32_t number) const override {
        return cabling().names.empty() ? Network::name(number) : cabling().names[number];
    }

    SwitchPair ends(LinkId link) const override {
        const auto number = static_cast<std::uint32_t>(link);
        const auto after = std::ranges::upper_bound(cabling().bundles, number, {}, &Bundle::first_link);
        return SwitchPair{(after - 1)->a, (after - 1)->b}.in_direction(number);
    }

    Route route(Port from, Port to, std::uint64_t salt) const override {
        return paths_->route(leaf(from), leaf(to), choice_of(from, to, salt));
    }

    bool has_one_route(Port from, Port to) const override { return paths_->count(leaf(from), leaf(to)) == 1; }

    std::uint32_t detours(Port from, Port to) const override {
        return std::min(most_detours, paths_->count(leaf(from), leaf(to)) - 1);
    }

    Route detour(Port from, Port to, std::uint64_t salt, std::uint32_t i) const override {
        const std::uint64_t count = paths_->count(leaf(from), leaf(to));
        const std::uint64_t apart = count / (detours(from, to) + 1);
        return paths_->route(leaf(from), leaf(to), (choice_of(from, to, salt) + (i + 1) * apart) % count);
    }

    bool routes_by_leaf() const override { return true; }

    std::vector<std::uint32_t> neighbourhoods() const override;
    BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const override;

  private:
    const Cabling& cabling() const { return paths_->cabling(); }

    std::uint64_t choice_of(Port from, Port to, std::uint64_t salt) const {
        return (paths_->destination(to) + salt) % paths_->count(leaf(from), leaf(to));
    }

    // Whether NICs of one number are so near to each other.
    bool is_within(std::uint32_t distance, std::uint32_t a, std::uint32_t b) const {
        for (std::uint32_t nic = 0; nic < cabling().nics; ++nic) {
            if (paths_->distance(leaf({a, nic}), leaf({b, nic})) > distance) return false;
        }
        return true;
    }

    // How many nodes one after another are no further apart than `distance`, where all such runs are equal but for a
    // shorter last one; 0 otherwise.
    std::uint32_t run_within(std::uint32_t distance) const {
        std::uint32_t first_run = 0, run = 1;
        for (std::uint32_t node = 1; node < cabling().nodes(); ++node, ++run) {
            if (is_within(distance, node - 1, node)) continue;
            if (first_run == 0) first_run = run;
            if (run != first_run) return 0;
            run = 0;
        }
        return run <= first_run ? first_run : 0;
    }

    std::shared_ptr<const ShortestPaths> paths_;
};

std::vector<std::uint32_t> Switches::neighbourhoods() const {
    std::vector<std::uint32_t> sizes;
    for (std::uint32_t distance = 0; distance <= most_hops; ++distance) {
        const std::uint32_t size = run_within(distance);
        if (size > 1 && size < cabling().nodes() && (sizes.empty() || size > sizes.back())) sizes.push_back(size);
    }
    return sizes;
}

// The most that the first half of the nodes can send to the other half at once: the least cut between them (Ford and
// Fulkerson, "Maximal Flow Through a Network", Canad. J. Math. 8 (1956)), found by pushing and relabelling.
BytesPerSecond Switches::bisection(const Table<LinkClassId, LinkClass>& classes) const {
    using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
    using Edge = boost::property<boost::edge_reverse_t, Traits::edge_descriptor>;
    using Residual = boost::property<boost::edge_residual_capacity_t, std::int64_t, Edge>;
    using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                        boost::property<boost::edge_capacity_t, std::int64_t, Residual>>;
    const Cabling& cabling = this->cabling();
    const BytesPerSecond port = classes[cabling.port].nominal;
    if (cabling.nodes() < 2) return port * (cabling.nics / 2.0);
    const std::uint32_t source = cabling.switches, sink = source + 1;
    Graph graph(std::size_t{cabling.switches} + 2);
    const auto join = [&](std::uint32_t a, std::uint32_t b, double there, double back) {
        const auto out = boost::add_edge(a, b, graph).first, in = boost::add_edge(b, a, graph).first;
        boost::put(boost::edge_capacity, graph, out, static_cast<std::int64_t>(there));
        boost::put(boost::edge_capacity, graph, in, static_cast<std::int64_t>(back));
        boost::put(boost::edge_reverse, graph, out, in);
        boost::put(boost::edge_reverse, graph, in, out);
    };
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ports(cabling.switches);  // of the first half, of the other
    for (std::size_t i = 0; i < cabling.leaves.size(); ++i) {
        auto& [low, high] = ports[cabling.leaves[i]];
        ++(i / cabling.nics < cabling.nodes() / 2 ? low : high);
    }
    for (std::uint32_t i = 0; i < cabling.switches; ++i) {
        if (ports[i].first > 0) join(source, i, port.value * ports[i].first, 0.0);
        if (ports[i].second > 0) join(i, sink, port.value * ports[i].second, 0.0);
    }
    for (const Bundle& bundle : cabling.bundles) {
        const double width = classes[bundle.link_class].nominal.value * bundle.cables;
        join(bundle.a, bundle.b, width, width);
    }
    return {static_cast<double>(boost::push_relabel_max_flow(graph, source, sink))};
}

// Reads a member of the list `from`, a switch; 0 after an error.
std::uint32_t read_switch(Field& from, const Cabling& cabling) {
    const std::uint32_t number = from.as_whole();
    if (number < cabling.switches) return number;
    from.error("", "expected a switch from 0 to {}, got {}", cabling.switches - 1, number);
    return 0;
}

void read_names(Field& block, Cabling& cabling) {
    if (block.is_number("switches")) {
        cabling.switches = block.count("switches");
    } else {
        for (Field& name : block.list("switches")) cabling.names.push_back(name.as_text());
        cabling.switches = static_cast<std::uint32_t>(cabling.names.size());
    }
    if (cabling.switches > 0 && cabling.switches <= most_switches) return;
    block.error("switches", "expected 1 to {} switches, got {}", most_switches, cabling.switches);
    cabling.switches = 1;
    cabling.names.clear();
}

void read_cables(Field& block, const LinkClasses& classes, Cabling& cabling) {
    Field cables = block.object("cables");
    std::uint64_t links = 0;
    for (const std::string& name : cables.keys()) {
        const LinkClassId link_class = classes.find(cables, name, name);
        for (Field& row : cables.list(name)) {
            std::vector<Field> cells = row.elements();
            if (cells.size() != 2 && cells.size() != 3) {
                row.error("", "expected two switches, and how many cables join them");
                continue;
            }
            Bundle bundle{
                .a = read_switch(cells[0], cabling), .b = read_switch(cells[1], cabling), .link_class = link_class};
            if (cells.size() == 3) bundle.cables = cells[2].as_whole();
            if (bundle.a == bundle.b) row.error("", "switch {} is cabled to itself", cabling.name(bundle.a));
            if (bundle.cables == 0) row.error("", "expected at least one cable");
            bundle.first_link = static_cast<std::uint32_t>(links);
            if (bundle.cables > 0 && bundle.a != bundle.b) cabling.bundles.push_back(bundle);
            links += 2 * std::uint64_t{bundle.cables};
            if (links > most_links) return row.error("", "more than {} cables in all", most_links / 2);
        }
    }
}

void read_nodes(Field& block, NetworkSize size, Cabling& cabling) {
    cabling.nics = size.nics_per_node;
    std::vector<Field> nodes = block.list("nodes");
    block.error_if(nodes.size() != size.nodes, "nodes", "expected the switches of each of the {} nodes, got {}",
                   size.nodes, nodes.size());
    for (Field& node : nodes) {
        if (!node.as_json().starts_with('[')) {
            cabling.leaves.insert(cabling.leaves.end(), cabling.nics, read_switch(node, cabling));
            continue;
        }
        std::vector<Field> nics = node.elements();
        node.error_if(nics.size() != cabling.nics, "", "expected the switch of each of the {} NICs, got {}",
                      cabling.nics, nics.size());
        nics.resize(std::min<std::size_t>(nics.size(), cabling.nics), node);
        for (Field& nic : nics) cabling.leaves.push_back(read_switch(nic, cabling));
    }
}

// Messages lead from any NIC to any other, or with PXN between NICs of one number. False after an error.
bool check_joined(Field& block, const ShortestPaths& paths, NetworkSize size) {
    const std::uint32_t rails = size.pxn == Pxn::on ? size.nics_per_node : 1;
    for (std::uint32_t rail = 0; rail < rails && size.nodes > 1; ++rail) {
        std::map<std::uint32_t, Port> leaves;  // a port of each
        for (std::uint32_t node = 0; node < size.nodes; ++node) {
            for (std::uint32_t nic = rail; nic < (rails > 1 ? rail + 1 : size.nics_per_node); ++nic)
                leaves.try_emplace(paths.leaf({node, nic}), Port{node, nic});
        }
        for (const auto& [to, port] : leaves) {
            for (const auto& [from, other] : leaves) {
                if (paths.distance(from, to) <= most_hops) continue;
                block.error("cables",
                            "the network falls apart: no way of at most {} cables from switch {} (NIC {} of node {}) "
                            "to switch {} (NIC {} of node {})",
                            most_hops, paths.cabling().name(from), other.nic, other.node, paths.cabling().name(to),
                            port.nic, port.node);
                return false;
            }
        }
    }
    return true;
}

std::unique_ptr<const Network> read_switches(Field block, const LinkClasses& classes, NetworkSize size) {
    block.text("source", "");
    Cabling cabling;
    cabling.port = classes.read(block, "port");
    read_names(block, cabling);
    read_cables(block, classes, cabling);
    read_nodes(block, size, cabling);
    block.done();
    if (cabling.leaves.size() != std::size_t{size.nodes} * size.nics_per_node) return nullptr;
    auto paths = std::make_shared<ShortestPaths>(std::move(cabling));
    if (!paths->fill()) {
        block.error("switches", "{} switches with {} kinds of leaves are more than can be routed",
                    paths->cabling().switches, paths->sets());
        return nullptr;
    }
    return check_joined(block, *paths, size) ? std::make_unique<Switches>(std::move(paths)) : nullptr;
}

}  // namespace

extern const BlockKind switches{.name = "switches", .read_network = read_switches};

}  // namespace weft::blocks
