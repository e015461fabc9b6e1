#include "topologies/vertex_names.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

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
            return topology_.wiring->switch_name(number);
    }
    throw LogicError("a NodeKind outside its enumerators");
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
