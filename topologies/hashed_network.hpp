// A network whose switches take one of equal ways by a hash of what a packet's header says of its flow, as those of an
// Ethernet do (ECMP: Hopps, "Analysis of an Equal-Cost Multi-Path Algorithm", RFC 2992): flows collide by chance.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/base/hash.hpp"
#include "topologies/wrapped_network.hpp"

namespace weft {

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
    // The same both ways, since a route has to be as long as the one back; of 44 bits, so that networks may add to it.
    std::uint64_t hashed(Port a, Port b, std::uint64_t salt) const {
        if (std::pair(b.node, b.nic) < std::pair(a.node, a.nic)) std::swap(a, b);
        return hash_of({seed_, a.node, a.nic, b.node, b.nic, salt}) >> 20U;
    }

    std::uint64_t seed_;
};

}  // namespace weft
