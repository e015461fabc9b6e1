// What vertices of a topology are called.
#pragma once

#include <cstdint>
#include <string>

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
    std::uint32_t nics_, node_switches_;           // of one node
    Table<NodeId, std::uint32_t> number_of_kind_;  // of each vertex: those of a kind come node by node
};

}  // namespace weft
