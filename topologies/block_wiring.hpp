// The wires of a machine built of blocks: those of its nodes, of its ports and of its network.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/topology/wiring.hpp"
#include "topologies/blocks/block.hpp"
#include "topologies/numbering.hpp"

namespace weft {

class BlockWiring final : public Wiring {
  public:
    BlockWiring(Numbering numbering, std::vector<BlockLink> node_links, std::unique_ptr<const Network> network)
        : numbering_(numbering), node_links_(std::move(node_links)), network_(std::move(network)) {}

    LinkEnds ends(LinkId link) const override;
    LinkId way_back(LinkId link) const override;
    bool joins_switches(LinkId link) const override {
        return static_cast<std::uint32_t>(link) >= numbering_.first_of_network();
    }
    LinkId port(std::uint32_t nic) const override {
        return numbering_.up({nic / numbering_.nics, nic % numbering_.nics});
    }
    std::string switch_name(std::uint32_t number) const override { return network_->name(number); }
    std::vector<LinkMatrix> matrices() const override;  // ports, and then those of the network
    std::optional<MatrixPlace> place(LinkId link) const override;

  private:
    LinkEnds port_ends(std::uint32_t port_link) const;

    Numbering numbering_;
    std::vector<BlockLink> node_links_;
    std::unique_ptr<const Network> network_;
};

}  // namespace weft
