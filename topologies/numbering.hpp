// The numbers of vertices and links in a machine built of blocks.
#pragma once

#include <cstdint>

#include "sim/base/table.hpp"
#include "topologies/blocks/block.hpp"

namespace weft {

// Numbering of the whole topology, for n nodes of v vertices (a of them accelerators, c of them NICs) and l links:
//   vertex i of node k         k v + i            switch s of the network            n v + s
//   link i of node k           k l + i            port of NIC j of node k: up        n l + 2 (k c + j), down: + 1
//   rank r                     accelerator r % a of node r / a     network link i     n l + 2 n c + i
struct Numbering {
    std::uint32_t nodes = 0, accelerators = 0, nics = 0, node_vertices = 0, node_links = 0;

    NodeId vertex(std::uint32_t node, std::uint32_t i) const { return NodeId(node * node_vertices + i); }
    NodeId network_switch(std::uint32_t i) const { return NodeId(nodes * node_vertices + i); }
    LinkId link(std::uint32_t node, LinkId i) const {
        return LinkId(node * node_links + static_cast<std::uint32_t>(i));
    }
    LinkId up(Port port) const { return LinkId(first_port() + 2 * (port.node * nics + port.nic)); }
    LinkId down(Port port) const { return next(up(port)); }
    LinkId network_link(LinkId i) const { return LinkId(first_of_network() + static_cast<std::uint32_t>(i)); }

    std::uint32_t first_port() const { return nodes * node_links; }
    std::uint32_t first_of_network() const { return first_port() + 2 * nodes * nics; }
};

}  // namespace weft
