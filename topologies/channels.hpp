// The channels that a library lays through a group of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/cost/communicator.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Members are any ranks of the machine, in the caller's order; every channel orders all of them, node by node in the
// order in which the members first name the nodes. Inside a node, orders are searched on the real link graph so that
// the channels share links and NICs as evenly as possible; across nodes each channel leaves and enters through its own
// NIC where there are several. Deterministic. Groups with the same local members reuse the search.
class ChannelPlanner {
  public:
    // `busy`: the accelerators of every node on which the job has a rank; empty: all.
    explicit ChannelPlanner(const Topology& topology, std::vector<std::uint32_t> busy = {});
    ~ChannelPlanner();

    Communicator lay(const std::vector<RankId>& members, Order order);

  private:
    struct Cache;
    Communicator across_nodes(const std::vector<RankId>& members, Order order);
    Ports ports(const std::vector<RankId>& members);
    Ports ports_on(std::uint32_t node, std::span<const std::uint32_t> here) const;

    const Topology& topology_;
    std::vector<std::uint32_t> busy_;
    std::unique_ptr<Cache> cache_;
};

GroupShape shape_of(const Topology& topology, std::span<const RankId> members);

}  // namespace weft
