// The router of a machine built of blocks: through the node to its NIC, across the network, through the other node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/hash.hpp"
#include "sim/base/table.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/blocks/block.hpp"
#include "topologies/node_routes.hpp"

namespace weft {

// Numbering of the whole topology, for n nodes of v vertices (a of them accelerators, c of them NICs) and l links:
//   vertex i of node k         k v + i            switch s of the network            n v + s
//   link i of node k           k l + i            port of NIC j of node k: up        n l + 2 (k c + j), down: + 1
//   rank r                     accelerator r % a of node r / a     network link i     n l + 2 n c + i
struct Numbering {
    std::uint32_t nodes = 0, accelerators = 0, nics = 0, node_vertices = 0, node_links = 0;

    NodeId vertex(std::uint32_t node, std::uint32_t i) const { return NodeId(node * node_vertices + i); }
    NodeId network_switch(std::uint32_t i) const { return NodeId(nodes * node_vertices + i); }
    LinkId link(std::uint32_t node, LinkId i) const {
        return LinkId(node * node_links + static_cast<std::uint32_t>(i));
    }
    LinkId up(Port port) const { return LinkId(first_port() + 2 * (port.node * nics + port.nic)); }
    LinkId down(Port port) const { return next(up(port)); }
    LinkId network_link(LinkId i) const { return LinkId(first_of_network() + static_cast<std::uint32_t>(i)); }

    std::uint32_t first_port() const { return nodes * node_links; }
    std::uint32_t first_of_network() const { return first_port() + 2 * nodes * nics; }
};

// How the nodes of a job find the network. Node i of the job is node `nodes[i]` of the machine, or node i where these
// are empty. Switches and links keep the numbers that they have in the smallest network that holds all of these.
//
// With a seed, switches take one of equal routes by a hash of what a packet's header says of its flow, as those of an
// Ethernet do (ECMP: Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992): flows collide by chance. The
// hash is of both ports, the salt, which stands for the connection (a channel of a library), and the seed, which stands
// for what nobody can know of a machine's switches.
struct Seating {
    std::vector<std::uint32_t> nodes{};
    std::optional<std::uint64_t> hash_seed{};

    Port of(Port port) const { return nodes.empty() ? port : Port{nodes[port.node], port.nic}; }
    // Between two ports of the machine. The same both directions, since a route has to be as long as the one back; of
    // 44 bits, so that networks may add to it.
    std::uint64_t salt(Port a, Port b, std::uint64_t salt) const {
        if (!hash_seed) return salt;
        if (std::pair(b.node, b.nic) < std::pair(a.node, a.nic)) std::swap(a, b);
        return hash_of({*hash_seed, a.node, a.nic, b.node, b.nic, salt}) >> 20U;
    }
};

class BlockRouter final : public Router {
  public:
    // `network` outlives the router.
    BlockRouter(Numbering numbering, const NodePlan& plan, const Table<LinkClassId, LinkClass>& classes,
                const Network& network, Seating seating)
        : numbering_(numbering),
          routes_(plan, classes),
          pxn_(plan.pxn),
          network_(&network),
          seating_(std::move(seating)),
          classes_(classes) {
        for (const BlockLink& link : plan.links) node_classes_.push_back(link.link_class);
    }
    BlockRouter(const BlockRouter&) = delete;
    BlockRouter& operator=(const BlockRouter&) = delete;

    Route route(RankId from, RankId to, std::uint64_t salt) const override;
    bool has_one_route(RankId from, RankId to) const override {
        return node(from) == node(to) || network_->has_one_route(seat(port(from, to)), seat(port(to)));
    }
    std::uint32_t detours(RankId from, RankId to) const override {
        return node(from) == node(to) ? 0 : network_->detours(seat(port(from, to)), seat(port(to)));
    }
    Route detour(RankId from, RankId to, std::uint64_t salt, std::uint32_t i) const override;
    void add_detours(RankId from, RankId to, std::uint64_t salt, std::vector<LinkTimes>& links) const override;
    bool add_exchange(std::span<const RankId> ranks, std::uint64_t salt, Routes routes,
                      ExchangeSink& sink) const override;
    std::optional<LinkMove> move(std::span<const RankId> ranks, std::int32_t by) const override;
    std::uint64_t residue(std::span<const RankId> ranks) const override;
    LinkId uplink(RankId rank) const override { return numbering_.up(port(rank)); }

  private:
    std::uint32_t node(RankId rank) const { return static_cast<std::uint32_t>(rank) / numbering_.accelerators; }
    std::uint32_t local(RankId rank) const { return static_cast<std::uint32_t>(rank) % numbering_.accelerators; }
    Port port(RankId rank) const { return {node(rank), routes_.nic_of(local(rank))}; }
    // By which `from` leaves for `to`.
    Port port(RankId from, RankId to) const { return {node(from), routes_.nic_of(local(pxn_ == Pxn::on ? to : from))}; }
    Port seat(Port port) const { return seating_.of(port); }
    std::uint64_t salt_between(Port a, Port b, std::uint64_t salt) const {
        return seating_.salt(seat(a), seat(b), salt);
    }
    // By how many nodes, and by how many accelerators inside its node, every rank moves.
    struct Steps {
        std::int64_t nodes = 0, locals = 0;
    };
    std::optional<Steps> steps_of(std::span<const RankId> ranks, std::int64_t by) const;
    bool add_network(LinkMove& move, std::span<const RankId> ranks, const Steps& steps) const;
    bool add_shifts(LinkMove& move, std::span<const Port> ports, std::int64_t nodes, std::int64_t nics) const;
    Route through(RankId from, Port out, RankId to, Port in, const Route& between) const;
    struct NodeRanks;
    struct ExchangeRanks;
    ExchangeRanks ranks_of_exchange(std::span<const RankId> ranks) const;
    bool add_between_nodes(const ExchangeRanks& ranks, std::uint64_t salt, Routes routes, ExchangeSink& sink) const;
    void add_inside_node(const ExchangeRanks& ranks, const NodeRanks& here, std::uint32_t rank, double far,
                         ExchangeSink& sink) const;
    void add_node(ExchangeSink& sink, ExchangeRoute kind, std::uint32_t node, std::uint32_t from, std::uint32_t to,
                  double messages) const;
    Seconds latency_inside(std::uint32_t from, std::uint32_t to) const;
    void add_inside(Route& route, std::uint32_t node, std::uint32_t from, std::uint32_t to) const;

    Numbering numbering_;
    NodeRoutes routes_;
    Pxn pxn_;
    const Network* network_;
    Seating seating_;
    Table<LinkClassId, LinkClass> classes_;
    std::vector<LinkClassId> node_classes_;  // of the links of a node
};

// `network` is cut to the nodes that are built, or that these are by `seating`.
Topology build_topology(std::string name, std::uint32_t nodes, const NodePlan& plan,
                        const Table<LinkClassId, LinkClass>& classes, std::unique_ptr<const Network> network,
                        Seating seating = {});

}  // namespace weft
