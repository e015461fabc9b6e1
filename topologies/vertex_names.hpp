// What vertices of a topology are called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/network/link_traffic.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// "rank 3", "node 0 NIC 2", "node 0 switch"; switches of the network as it names them: "group 3 switch 5", "leaf 12".
// Nodes are those of the job, switches those of the machine. Each vertex has a name of its own.
class VertexNames {
  public:
    explicit VertexNames(const Topology& topology);  // which outlives this

    std::string operator[](NodeId vertex) const;

  private:
    const Topology& topology_;
    std::uint32_t nodes_;
    std::uint32_t nics_, node_switches_;  // of one node
};

// One of the links that carried most, by name.
struct HotLink {
    std::string from, to;  // as VertexNames
    std::string link_class;
    Bytes bytes;
    double busy = 0.0;
    std::uint32_t links = 1;  // of the class that carried as much, of which this is the first
};

// Of each class of `links`, which carried what they did in `time`, the busiest: so many rows at most, in each of which
// all carried the same (to nine digits). Busiest first.
std::vector<HotLink> hottest_links(const Topology& topology, std::span<const LinkBytes> links, Seconds time,
                                   std::size_t most_of_class);

}  // namespace weft
