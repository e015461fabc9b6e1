// The blocks that a machine is made of: one kind of node, repeated, on one kind of network. Adding a kind is adding a
// file to this folder that defines an `extern const BlockKind`. What the keys of a kind mean: tools/schema/meanings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/document.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// A rate as specified, and what of it is reached.
struct ReachedRate {
    BytesPerSecond nominal, reached;
};
//   { "nominal": "25 GB/s", "efficiency": 0.97, "source": "..." }
ReachedRate read_rate(Field field);

// The "links" section of a machine file: every class of link with its specified and its measured figures apart.
class LinkClasses {
  public:
    explicit LinkClasses(Field links);  // records what is wrong with the section

    // The class that `key` of `block` names. An unknown name is recorded as an error at the key, with the nearest
    // known ones; class 0 is returned then, which must not be looked up before Document::check().
    LinkClassId read(Field& block, std::string_view key) const;
    // The class called `name`; an unknown one is an error at `key`.
    LinkClassId find(Field& block, std::string_view key, std::string_view name) const;

    const Table<LinkClassId, LinkClass>& table() const { return table_; }

  private:
    Table<LinkClassId, LinkClass> table_;
    std::vector<std::string> names_;
};

// A directed link between two vertices of one block, numbered within the block.
struct BlockLink {
    std::uint32_t tail = 0, head = 0;
    LinkClassId link_class{};
};

// Whether traffic to another node leaves through the NIC with the number of the one it arrives at ("PCI x NVLink", NCCL
// 2.12), so that it stays on its rail, or through the NIC of the sender.
enum class Pxn : std::uint8_t { off, on };

// Where links come in pairs, 2k and 2k + 1 are the two directions of one cable.
constexpr LinkId reverse_of(LinkId link) { return LinkId(static_cast<std::uint32_t>(link) ^ 1U); }

// One node. Vertices: accelerators, then NICs, then switches. Links come in pairs of directions.
struct NodePlan {
    std::uint32_t accelerators = 0;
    std::uint32_t accelerators_per_package = 1;
    std::vector<std::uint32_t> nics;  // the accelerator that each NIC is attached to
    Pxn pxn = Pxn::off;
    std::uint32_t switches = 0;
    std::vector<BlockLink> links;

    std::uint32_t nic_vertex(std::uint32_t nic) const { return accelerators + nic; }
    std::uint32_t switch_vertex(std::uint32_t i) const {
        return nic_vertex(static_cast<std::uint32_t>(nics.size())) + i;
    }
    std::uint32_t vertices() const { return switch_vertex(switches); }
    NodeKind kind(std::uint32_t vertex) const {
        if (vertex < accelerators) return NodeKind::accelerator;
        return vertex < switch_vertex(0) ? NodeKind::nic : NodeKind::node_switch;
    }
    std::uint32_t uses = 0;  // of the accelerators, the first ones; the others and their NICs are left idle. 0: all
    std::uint32_t idle = 0;  // accelerators that were left

    // Keeps the first `used` accelerators and the NICs that are attached to them, which are numbered anew. Packages
    // must stay whole.
    void leave_idle(std::uint32_t used);
    void connect(std::uint32_t a, std::uint32_t b, LinkClassId link_class) {
        links.push_back({a, b, link_class});
        links.push_back({b, a, link_class});
    }
};

// NIC `nic` of node `node`: where a node meets the network.
struct Port {
    std::uint32_t node = 0, nic = 0;
};

// a / b, rounded up.
constexpr std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Hops between switches that leave room in a Route for two ports and three links inside each node.
inline constexpr std::uint32_t most_hops = Route::capacity - 8;

// A stretch of a LinkMove.
struct LinkShift {
    LinkId first{};
    std::int64_t by = 0;
    std::vector<std::int32_t> each{};
};

// Links of one class with consecutive numbers.
struct LinkRun {
    LinkClassId link_class{};
    std::uint32_t links = 0;  // how many
};

// What a link between switches joins.
struct SwitchPair {
    std::uint32_t tail = 0, head = 0;
    // Where links come in pairs: the first of a cable's two leads along it, the second back.
    SwitchPair in_direction(std::uint32_t link) const { return link % 2 == 0 ? *this : SwitchPair{head, tail}; }
};

// Of a complete exchange: so many ranks send by a port, and so many receive by it.
struct PortUse {
    Port port{};
    std::uint32_t senders = 0, receivers = 0;
};

// The switches of a machine and the links between them, by arithmetic: no table has an entry per pair. Immutable.
class Network {
  public:
    virtual ~Network() = default;
    // The part of this network that traffic among the first `nodes` nodes can touch, detours included. It routes them
    // as the whole does.
    virtual std::unique_ptr<const Network> first(std::uint32_t nodes) const = 0;
    // The network of the same kind that stands above more nodes, where its file says that it grows; else nothing.
    virtual std::unique_ptr<const Network> grown(std::uint32_t /*nodes*/) const { return nullptr; }
    virtual std::uint32_t most_nodes() const { return 0; }  // that it grows to; 0: it does not
    virtual std::uint32_t switches() const = 0;
    virtual std::vector<LinkRun> links() const = 0;  // between switches, by number
    virtual SwitchPair ends(LinkId link) const = 0;
    // As Wiring::reverse. Links come in pairs by default.
    virtual LinkId reverse(LinkId link) const { return reverse_of(link); }
    // As Wiring::switch_name.
    virtual std::string name(std::uint32_t switch_number) const { return "switch " + std::to_string(switch_number); }
    // As those of Wiring, of the links between switches: by default one of all switches.
    virtual std::vector<LinkMatrix> matrices() const {
        return {{.title = "Between switches",
                 .row = "from switch",
                 .column = "to switch",
                 .rows = switches(),
                 .columns = switches()}};
    }
    virtual MatrixPlace place(LinkId link) const {
        const SwitchPair pair = ends(link);
        return {.row = pair.tail, .column = pair.head};
    }
    virtual LinkClassId port_class() const = 0;       // of the cables between NICs and switches
    virtual std::uint32_t leaf(Port port) const = 0;  // the switch that a NIC is plugged into
    // Links between the leaves of two ports. As long as the route back, for equal salts.
    virtual Route route(Port from, Port to, std::uint64_t salt) const = 0;
    // Whether every salt gives the same route. "No" is always safe.
    virtual bool has_one_route(Port /*from*/, Port /*to*/) const { return false; }
    // other routes between the same leaves, over which Valiant and adaptive routing spread: how many, and one of them
    // (i < detours). None by default.
    virtual std::uint32_t detours(Port /*from*/, Port /*to*/) const { return 0; }
    virtual Route detour(Port from, Port to, std::uint64_t salt, std::uint32_t /*i*/) const {
        return route(from, to, salt);
    }
    // As Router::add_detours.
    virtual void add_detours(Port from, Port to, std::uint64_t salt, std::vector<LinkTimes>& links) const {
        const std::uint32_t count = detours(from, to);
        for (std::uint32_t i = 0; i < count; ++i) {
            const Route one = detour(from, to, salt, i);
            for (const LinkId link : one.links()) links.push_back({link});
        }
    }
    // As Router::add_exchange, of the links between leaves: from each sender of a port to each receiver of a port of
    // another node. Ports are those of one node after those of another, each once. Latencies are those of all these
    // links, of `classes`. By default where routes_by_leaf().
    virtual bool add_exchange(std::span<const PortUse> ports, std::uint64_t salt, Router::Routes routes,
                              const Table<LinkClassId, LinkClass>& classes, ExchangeSink& sink) const;
    // Whether all ports of a leaf have the same routes and detours to a port.
    virtual bool routes_by_leaf() const { return false; }
    // Where the links between the leaves of `ports` lie, on routes and detours of every salt, after port i of these has
    // moved to moved[i]; as has_one_route and the number of detours, which stay. In ascending order, from the first
    // link that any of these routes takes. Nothing where they do not move so, or where that is not known.
    virtual std::optional<std::vector<LinkShift>> shifts(std::span<const Port> ports,
                                                         std::span<const Port> moved) const {
        return of_one_leaf(ports) && of_one_leaf(moved) ? std::optional(std::vector<LinkShift>{}) : std::nullopt;
    }
    // Router::residue, of ports of several leaves, which move only where a network says so.
    virtual std::uint64_t residue(Port port) const { return std::uint64_t{port.node} << 32U | port.nic; }
    // How many nodes sit together at each level, ascending: pairs that straddle a boundary take another kind of path.
    virtual std::vector<std::uint32_t> neighbourhoods() const = 0;
    // Specified bandwidth, in one direction, between two halves of the machine, cut where a layout would cut it.
    virtual BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const = 0;

  protected:
    // Nothing is between these: no links, one route, no detours.
    bool of_one_leaf(std::span<const Port> ports) const {
        return std::ranges::all_of(ports, [&](Port port) { return leaf(port) == leaf(ports.front()); });
    }
};

struct NetworkSize {
    std::uint32_t nodes = 1;
    std::uint32_t nics_per_node = 1;
    Pxn pxn = Pxn::off;
};

// Readers record every error at its place; after an error they return an empty plan or no network.
struct BlockKind {
    std::string_view name;
    NodePlan (*read_node)(Field block, const LinkClasses& classes) = nullptr;  // null if this is no kind of node
    std::unique_ptr<const Network> (*read_network)(Field block, const LinkClasses& classes,
                                                   NetworkSize size) = nullptr;  // null if this is no kind of network
};

namespace blocks {
std::span<const BlockKind* const> all();  // every registered kind, sorted by file
}

// Reads the "nics" of a node block and connects each to its accelerator.
//   "nics": { "attached": [1, 3, 5, 7], "link": "pcie.nic", "pxn": true, "source": "..." }   // pxn: false if absent
void read_nics(Field& block, const LinkClasses& classes, NodePlan& plan);
// "accelerators_per_package" (1 if absent), which must divide the accelerators.
void read_packages(Field& block, NodePlan& plan);
// The parts that no link joins to vertex 0 are an error at `key`.
void check_connected(Field& block, std::string_view key, const NodePlan& plan);

}  // namespace weft
