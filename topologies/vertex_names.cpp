#include "topologies/vertex_names.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace weft {

VertexNames::VertexNames(const Topology& topology)
    : topology_(topology),
      nodes_(topology.ranks / topology.ranks_per_node),
      nics_(topology.vertices_of(NodeKind::nic) / nodes_),
      node_switches_(topology.vertices_of(NodeKind::node_switch) / nodes_) {}

// Accelerators of a node come first, then NICs, then switches.
std::string VertexNames::operator[](NodeId vertex) const {
    const std::uint32_t number = static_cast<std::uint32_t>(vertex), inside = nodes_ * topology_.node_vertices;
    if (number >= inside) return topology_.wiring->switch_name(number - inside);
    const std::uint32_t node = number / topology_.node_vertices, place = number % topology_.node_vertices;
    const std::uint32_t accelerators = topology_.ranks_per_node;
    if (place < accelerators) return fmt::format("rank {}", node * accelerators + place);
    if (place < accelerators + nics_) return fmt::format("node {} NIC {}", node, place - accelerators);
    if (node_switches_ == 1) return fmt::format("node {} switch", node);
    return fmt::format("node {} switch {}", node, place - accelerators - nics_);
}

namespace {

constexpr double same = 1e-9;

// `found`: most first.
void add(std::vector<LinkBytes>& found, const LinkBytes& link, std::size_t most) {
    const auto place = std::ranges::find_if(
        found, [&](const LinkBytes& each) { return link.bytes.value >= each.bytes.value * (1.0 - same); });
    if (place != found.end() && std::abs((link.bytes - place->bytes).value) <= same * link.bytes.value) {
        place->links += link.links;
        return;
    }
    found.insert(place, link);
    if (found.size() > most) found.pop_back();
}

}  // namespace

std::vector<HotLink> hottest_links(const Topology& topology, std::span<const LinkBytes> links, Seconds time,
                                   std::size_t most_of_class) {
    Table<LinkClassId, std::vector<LinkBytes>> found(topology.classes.size());
    for (const LinkBytes& each : links) add(found[topology.link_class(each.link)], each, most_of_class);
    const VertexNames names(topology);
    std::vector<HotLink> hottest;
    for (const std::vector<LinkBytes>& of_class : found) {
        for (const LinkBytes& each : of_class) {
            const LinkEnds ends = topology.ends(each.link);
            hottest.push_back({.from = names[ends.tail],
                               .to = names[ends.head],
                               .link_class = topology.link(each.link).name,
                               .bytes = each.bytes,
                               .busy = each.bytes / (topology.link(each.link).bandwidth * time),
                               .links = each.links});
        }
    }
    std::ranges::stable_sort(hottest, std::ranges::greater{}, &HotLink::busy);
    return hottest;
}

}  // namespace weft
