// The machine as a frozen graph of directed links, with a router. Built once by topologies/. What repeats is
// stored once, however large the machine. All-pairs routes are never stored: a route is computed on demand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/topology/link_move.hpp"

namespace weft {

// What a complete exchange puts on links: each of some ranks sends one message to each other. Networks that are equal
// everywhere count the messages of a link instead of routing them one by one.
// How messages come to a link: inside a node; between nodes, where there is no other route; on their minimal route,
// where there are detours; on a detour.
enum class ExchangeRoute : std::uint8_t { inside, only, minimal, detour };

class ExchangeSink {
  public:
    virtual ~ExchangeSink() = default;
    // So many messages on a link, each with 1 / parts of itself, in any order; one link may be told several times.
    virtual void add(LinkId link, ExchangeRoute kind, double messages, std::uint32_t parts = 1) = 0;
    // The longest route of any message of a kind, or of few ranks the longest end with the longest route between
    // switches; may be told several times.
    virtual void reach(ExchangeRoute kind, Seconds latency) = 0;
};

// The directed links from one rank to another, in order. Empty for a rank to itself.
struct Route {
    static constexpr std::size_t capacity = 40;  // across a torus of 16 x 20 x 28 (a TPU v5p pod), both nodes included
    std::array<LinkId, capacity> hop;            // of which the first `hops` are set
    std::uint8_t hops = 0;

    void push_back(LinkId link) {
        WEFT_CHECK(hops < capacity, "route longer than Route::capacity");
        hop[hops++] = link;
    }
    void append(const Route& other) {
        for (const LinkId link : other.links()) push_back(link);
    }
    std::span<const LinkId> links() const& { return {hop.data(), hops}; }
    std::span<const LinkId> links() const&& = delete;  // a view of a temporary would dangle
};

// Links as cells of a matrix, for pictures of a network: rows and columns are what its links join.
struct LinkMatrix {
    std::string title;        // "Between leaves and spines"
    std::string row, column;  // what they stand for: "leaf", "spine"
    std::uint32_t rows = 0, columns = 0;
    std::string to_column{},
        to_row{};  // what the two directions are called ("up", "down"), where links of a cell take both
};

enum class MatrixDirection : std::uint8_t { to_column, to_row };

// Where a link stands. Several links may share a cell.
struct MatrixPlace {
    std::uint32_t matrix = 0;  // number of it
    std::uint32_t row = 0, column = 0;
    MatrixDirection direction = MatrixDirection::to_column;
    bool operator==(const MatrixPlace&) const = default;
};

// How the links of a topology lie: which vertices they join, and which belong together.
struct LinkEnds {
    NodeId tail{}, head{};
};

// Answers by arithmetic, so that no table has an entry per link. Pure.
class Wiring {
  public:
    virtual ~Wiring() = default;
    virtual LinkEnds ends(LinkId link) const = 0;
    // The other direction of the same cable: of the links between two vertices, the first in one direction belongs to
    // the first in the other, and so on.
    virtual LinkId reverse(LinkId link) const = 0;
    virtual bool joins_switches(LinkId link) const = 0;  // of the network
    virtual LinkId port(std::uint32_t nic) const = 0;    // from a NIC into the network; NICs count node by node
    virtual std::string switch_name(std::uint32_t number) const = 0;  // of the network's; each has one of its own
    // Pictures of the links that leave nodes, and where each of these stands; no link inside a node is on one.
    virtual std::vector<LinkMatrix> matrices() const = 0;
    virtual std::optional<MatrixPlace> place(LinkId link) const = 0;
};

// What links of one kind have in common, e.g. "infinity_fabric.x4" or "slingshot.global".
struct LinkClass {
    std::string name;
    BytesPerSecond nominal;    // specified, per direction
    BytesPerSecond bandwidth;  // achievable, per direction: nominal x measured efficiency; what the simulation uses
    Seconds latency;           // time of flight of the first byte over this link, receiving switch included
    std::optional<LinkClassId> intact{};  // of links with a fault: the class that they would be of without it
};

// A link, and how many routes of a set take it.
struct LinkTimes {
    LinkId link{};
    std::uint32_t times = 1;
};

// Computes routes for one topology. Pure: the same arguments give the same route.
class Router {
  public:
    virtual ~Router() = default;
    // Links from `from` to `to`. `salt` chooses among equal paths (ECMP, parallel links) where there are several.
    virtual Route route(RankId from, RankId to, std::uint64_t salt) const = 0;
    // The link by which `rank`'s traffic leaves its node towards the network, where it goes to a rank of the same place
    // in another node; where NICs are chosen by the receiver, other traffic may differ.
    virtual LinkId uplink(RankId rank) const = 0;
    // How many non-minimal routes there are to spread over besides `route`, and one of them (i < detours).
    virtual std::uint32_t detours(RankId /*from*/, RankId /*to*/) const { return 0; }
    virtual Route detour(RankId from, RankId to, std::uint64_t salt, std::uint32_t /*i*/) const {
        return route(from, to, salt);
    }
    // Appends the links of all detours, in any order; one may appear several times.
    virtual void add_detours(RankId from, RankId to, std::uint64_t salt, std::vector<LinkTimes>& links) const {
        const std::uint32_t count = detours(from, to);
        for (std::uint32_t i = 0; i < count; ++i) {
            const Route one = detour(from, to, salt, i);
            for (const LinkId link : one.links()) links.push_back({link});
        }
    }
    // Tells the sink what a complete exchange among `ranks` puts on links, if this router can count it: on the routes
    // of `salt`, or between switches on the detours of all messages, evenly over all that there are. Otherwise tells
    // nothing.
    enum class Routes : std::uint8_t { straight, detours };
    virtual bool add_exchange(std::span<const RankId> /*ranks*/, std::uint64_t /*salt*/, Routes /*routes*/,
                              ExchangeSink& /*sink*/) const {
        return false;
    }
    // Whether every salt gives the route that salt 0 gives. "No" is always safe.
    virtual bool has_one_route(RankId /*from*/, RankId /*to*/) const { return false; }
    // Where the routes among `ranks` lie, of every salt and detours included, after each rank r has moved to r + by:
    // the route from a + by to b + by is that from a to b with each link moved, to one of its own and of an equal class
    // as the machine was built. Nothing where that is not so, or not known.
    virtual std::optional<LinkMove> move(std::span<const RankId> /*ranks*/, std::int32_t /*by*/) const { return {}; }
    // Ranks for which this differs hardly ever move to where each other are: whoever looks for a move can begin here.
    virtual std::uint64_t residue(std::span<const RankId> /*ranks*/) const { return 0; }
};

// Which of the routes that a network offers traffic takes.
enum class Routing : std::uint8_t {
    minimal,   // no detours; equal routes are dealt out in order, which spreads regular traffic evenly
    ecmp,      // no detours; a hash picks one of equal routes
    valiant,   // all of it spreads over the detours (Valiant, SIAM J. Comput. 11 (1982) 350-361)
    adaptive,  // as much as makes the busiest link least busy (as UGAL does: Singh, PhD thesis, Stanford 2005)
};

constexpr bool uses_detours(Routing routing) { return routing == Routing::valiant || routing == Routing::adaptive; }

enum class NodeKind : std::uint8_t { accelerator, nic, node_switch, network_switch };

struct Topology {
    std::string name;
    std::uint32_t ranks = 0;  // accelerators; rank r sits on node r / ranks_per_node
    std::uint32_t ranks_per_node = 1;
    Table<LinkClassId, LinkClass> classes;
    std::unique_ptr<const Wiring> wiring;
    std::shared_ptr<const Router> router;  // may refer to the wiring
    // The same, past links that a fault has slowed, for messages that are faster so. None where no link is slow, or
    // where not all can be passed.
    std::unique_ptr<const Router> around;
    Routing routing = Routing::minimal;
    // Vertices of a node, its accelerators first: vertex i of node k is k * node_vertices + i.
    std::uint32_t node_vertices = 0;
    // Links inside a node, where all nodes are equal: link i of node k is k * node_links + i. 0: no such rule holds.
    std::uint32_t node_links = 0;
    // Nodes that traffic passes unlike the others because a link in them, or one to the network, is slow or dead;
    // ascending.
    std::vector<std::uint32_t> crippled_nodes{};

    std::uint32_t node_of(RankId rank) const { return static_cast<std::uint32_t>(rank) / ranks_per_node; }
    std::uint32_t local_of(RankId rank) const { return static_cast<std::uint32_t>(rank) % ranks_per_node; }
    std::uint32_t vertices() const { return static_cast<std::uint32_t>(node_kind_.size()); }
    NodeKind node_kind(NodeId vertex) const { return node_kind_[vertex]; }
    std::uint32_t vertices_of(NodeKind kind) const {  // how many
        return static_cast<std::uint32_t>(std::ranges::count(node_kind_, kind));
    }
    NodeId endpoint(RankId rank) const { return NodeId(node_of(rank) * node_vertices + local_of(rank)); }  // its vertex
    std::uint32_t links() const { return static_cast<std::uint32_t>(link_class_.size()); }
    LinkEnds ends(LinkId id) const { return wiring->ends(id); }
    NodeId tail(LinkId id) const { return ends(id).tail; }
    NodeId head(LinkId id) const { return ends(id).head; }
    LinkClassId link_class(LinkId id) const { return link_class_[id]; }
    // Whether it is one of the network's, rather than of a node or of a node's port.
    bool joins_switches(LinkId id) const { return wiring->joins_switches(id); }
    Table<LinkClassId, std::uint32_t> links_of_class() const {  // how many
        Table<LinkClassId, std::uint32_t> links(classes.size(), 0);
        for (const LinkClassId id : link_class_) ++links[id];
        return links;
    }
    const LinkClass& link(LinkId id) const { return classes[link_class(id)]; }
    const LinkClass& intact_link(LinkId id) const { return classes[link(id).intact.value_or(link_class(id))]; }
    Route route(RankId from, RankId to, std::uint64_t salt = 0) const { return router->route(from, to, salt); }
    // As Router::move, of the links as they are: no fault tells nodes apart.
    std::optional<LinkMove> move(std::span<const RankId> members, std::int32_t by) const {
        return node_links > 0 ? router->move(members, by) : std::nullopt;
    }
    Seconds latency(const Route& route) const {
        return sum_of<Seconds>(route.links(), [this](LinkId hop) { return link(hop).latency; });
    }

    // Building, some `times` over: ids count up from 0, links are between vertices that `wiring` knows.
    void add_vertices(std::span<const NodeKind> kinds, std::uint32_t times) { node_kind_.repeat(kinds, times); }
    void add_links(std::span<const LinkClassId> link_classes, std::uint32_t times) {
        link_class_.repeat(link_classes, times);
    }
    void set_class(LinkId id, LinkClassId link_class) { link_class_[id] = link_class; }

  private:
    Table<NodeId, NodeKind> node_kind_;
    Table<LinkId, LinkClassId> link_class_;
};

}  // namespace weft
