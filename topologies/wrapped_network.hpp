// A network with the switches, links and ports of another one. Which ports and moves are routed equally is left to the
// classes derived from this: by default none, as of any network.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/hash.hpp"
#include "topologies/blocks/block.hpp"

namespace weft {

class WrappedNetwork : public Network {
  public:
    std::uint32_t switches() const override { return network_->switches(); }
    std::vector<LinkRun> links() const override { return network_->links(); }
    SwitchPair ends(LinkId link) const override { return network_->ends(link); }
    LinkId reverse(LinkId link) const override { return network_->reverse(link); }
    std::string name(std::uint32_t switch_number) const override { return network_->name(switch_number); }
    std::vector<LinkMatrix> matrices() const override { return network_->matrices(); }
    MatrixPlace place(LinkId link) const override { return network_->place(link); }
    LinkClassId port_class() const override { return network_->port_class(); }
    std::uint32_t leaf(Port port) const override { return network_->leaf(port); }
    bool has_one_route(Port from, Port to) const override { return network_->has_one_route(from, to); }
    std::uint32_t detours(Port from, Port to) const override { return network_->detours(from, to); }
    std::vector<std::uint32_t> neighbourhoods() const override { return network_->neighbourhoods(); }
    BytesPerSecond bisection(const Table<LinkClassId, LinkClass>& classes) const override {
        return network_->bisection(classes);
    }

  protected:
    explicit WrappedNetwork(std::shared_ptr<const Network> network) : network_(std::move(network)) {}
    const Network& inner() const { return *network_; }

  private:
    std::shared_ptr<const Network> network_;
};

// A network whose switches take one of equal routes by a hash of what a packet's header says of its flow, as those of
// an Ethernet do (ECMP: Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992): flows collide by chance.
// The hash is of both ports, the salt, which stands for the connection (a channel of a library), and a seed, which
// stands for what nobody can know of a machine's switches.
class HashedNetwork final : public WrappedNetwork {
  public:
    HashedNetwork(std::shared_ptr<const Network> network, std::uint64_t seed)
        : WrappedNetwork(std::move(network)), seed_(seed) {}

    std::unique_ptr<const Network> first(std::uint32_t nodes) const override {
        return std::make_unique<HashedNetwork>(inner().first(nodes), seed_);
    }
    Route route(Port from, Port to, std::uint64_t salt) const override {
        return inner().route(from, to, hashed(from, to, salt));
    }
    Route detour(Port from, Port to, std::uint64_t salt, std::uint32_t i) const override {
        return inner().detour(from, to, hashed(from, to, salt), i);
    }
    void add_detours(Port from, Port to, std::uint64_t salt, std::vector<LinkTimes>& links) const override {
        inner().add_detours(from, to, hashed(from, to, salt), links);
    }

  private:
    // The same both directions, since a route has to be as long as the one back; of 44 bits, so that networks may add
    // to it.
    std::uint64_t hashed(Port a, Port b, std::uint64_t salt) const {
        if (std::pair(b.node, b.nic) < std::pair(a.node, a.nic)) std::swap(a, b);
        return hash_of({seed_, a.node, a.nic, b.node, b.nic, salt}) >> 20U;
    }

    std::uint64_t seed_;
};

// The network as the nodes of a job find it that are not the first of the machine.
// Node i of the job is node `nodes[i]` of the machine. Switches and links keep the numbers that they have in the
// smallest network that holds all of these.
class PlacedNetwork final : public WrappedNetwork {
  public:
    PlacedNetwork(const Network& whole, std::vector<std::uint32_t> nodes)  // one node at least
        : WrappedNetwork(whole.first(*std::ranges::max_element(nodes) + 1)), nodes_(std::move(nodes)) {}

    std::unique_ptr<const Network> first(std::uint32_t nodes) const override {
        return std::make_unique<PlacedNetwork>(inner(), std::vector(nodes_.begin(), nodes_.begin() + nodes));
    }
    std::uint32_t leaf(Port port) const override { return inner().leaf(placed(port)); }
    Route route(Port from, Port to, std::uint64_t salt) const override {
        return inner().route(placed(from), placed(to), salt);
    }
    bool has_one_route(Port from, Port to) const override { return inner().has_one_route(placed(from), placed(to)); }
    std::uint32_t detours(Port from, Port to) const override { return inner().detours(placed(from), placed(to)); }
    Route detour(Port from, Port to, std::uint64_t salt, std::uint32_t i) const override {
        return inner().detour(placed(from), placed(to), salt, i);
    }
    void add_detours(Port from, Port to, std::uint64_t salt, std::vector<LinkTimes>& links) const override {
        inner().add_detours(placed(from), placed(to), salt, links);
    }
    std::optional<std::vector<LinkShift>> shifts(std::span<const Port> ports,
                                                 std::span<const Port> moved) const override {
        return inner().shifts(placed(ports), placed(moved));
    }
    bool add_exchange(std::span<const PortUse> ports, std::uint64_t salt, Router::Routes routes,
                      const Table<LinkClassId, LinkClass>& classes, ExchangeSink& sink) const override {
        std::vector<PortUse> uses(ports.begin(), ports.end());
        for (PortUse& use : uses) use.port = placed(use.port);
        return inner().add_exchange(uses, salt, routes, classes, sink);
    }
    std::uint64_t residue(Port port) const override { return inner().residue(placed(port)); }

  private:
    Port placed(Port port) const { return {nodes_[port.node], port.nic}; }
    std::vector<Port> placed(std::span<const Port> ports) const {
        std::vector<Port> found;
        for (const Port port : ports) found.push_back(placed(port));
        return found;
    }

    std::vector<std::uint32_t> nodes_;
};

}  // namespace weft
