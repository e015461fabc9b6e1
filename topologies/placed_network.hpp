// The network as the nodes of a job find it that are not the first of the machine.
#pragma once

#include <memory>
#include <vector>

#include "topologies/wrapped_network.hpp"

namespace weft {

// Node i of the job is node `nodes[i]` of the machine. Switches and links keep the numbers that they have in the
// smallest network that holds all of these.
class PlacedNetwork final : public WrappedNetwork {
  public:
    PlacedNetwork(const Network& whole, std::vector<std::uint32_t> nodes);  // one node at least

    std::unique_ptr<const Network> first(std::uint32_t nodes) const override;
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
    bool add_exchange(std::span<const PortUse> ports, std::uint64_t salt, Router::Ways ways,
                      const Table<LinkClassId, LinkClass>& classes, ExchangeSink& sink) const override {
        std::vector<PortUse> uses(ports.begin(), ports.end());
        for (PortUse& use : uses) use.port = placed(use.port);
        return inner().add_exchange(uses, salt, ways, classes, sink);
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
