// A network with the switches, links and ports of another one. Which ports and moves are routed alike is left to the
// classes derived from this: by default none, as of any network.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "topologies/blocks/block.hpp"

namespace weft {

class WrappedNetwork : public Network {
  public:
    std::uint32_t switches() const override { return network_->switches(); }
    std::vector<LinkRun> links() const override { return network_->links(); }
    SwitchPair ends(LinkId link) const override { return network_->ends(link); }
    LinkId way_back(LinkId link) const override { return network_->way_back(link); }
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

}  // namespace weft
