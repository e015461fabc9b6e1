#include "topologies/vertex_names.hpp"

#include <fmt/format.h>

#include <array>

#include "sim/base/check.hpp"

namespace weft {

VertexNames::VertexNames(const Topology& topology)
    : topology_(topology),
      nics_(topology.vertices_of(NodeKind::nic) / (topology.ranks / topology.ranks_per_node)),
      node_switches_(topology.vertices_of(NodeKind::node_switch) / (topology.ranks / topology.ranks_per_node)),
      number_of_kind_(topology.vertices()) {
    std::array<std::uint32_t, 4> count{};
    for (NodeId vertex{}; vertex != number_of_kind_.end_id(); vertex = next(vertex)) {
        number_of_kind_[vertex] = count[static_cast<std::size_t>(topology.node_kind(vertex))]++;
    }
}

std::string VertexNames::operator[](NodeId vertex) const {
    const std::uint32_t number = number_of_kind_[vertex];
    switch (topology_.node_kind(vertex)) {
        case NodeKind::accelerator:
            return fmt::format("rank {}", number);
        case NodeKind::nic:
            return fmt::format("node {} NIC {}", number / nics_, number % nics_);
        case NodeKind::node_switch:
            if (node_switches_ == 1) return fmt::format("node {} switch", number);
            return fmt::format("node {} switch {}", number / node_switches_, number % node_switches_);
        case NodeKind::network_switch:
            return topology_.wiring != nullptr ? topology_.wiring->switch_name(number)
                                               : fmt::format("switch {}", number);
    }
    throw LogicError("a NodeKind outside its enumerators");
}

}  // namespace weft
