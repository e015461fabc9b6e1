// Topologies for simulations that follow one another on the same part of a machine.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "topologies/machine.hpp"
#include "workloads/groups/prepared_topology.hpp"

namespace weft {

// What is taken belongs to the taker until it is put back, so that threads share nothing. Any thread may call.
class TopologyPool {
  public:
    // `most`: that lie unused; the one put back longest ago goes first.
    explicit TopologyPool(std::size_t most) : most_(most) {}

    // One that lies unused, or a new one. Throws as Machine::topology() does.
    std::unique_ptr<PreparedTopology> take(const Machine& machine, std::uint32_t nodes, const Fabric& fabric);
    // For the arguments that it was taken with.
    void put_back(const Machine& machine, std::uint32_t nodes, const Fabric& fabric,
                  std::unique_ptr<PreparedTopology> topology);

  private:
    struct Unused {
        Machine machine;
        std::uint32_t nodes = 1;
        Fabric fabric;
        std::unique_ptr<PreparedTopology> topology;
    };

    std::size_t most_;
    std::mutex mutex_;  // guards unused_
    std::vector<Unused> unused_;
};

}  // namespace weft
