#include "topologies/hottest_links.hpp"

#include <algorithm>
#include <cmath>

#include "topologies/vertex_names.hpp"

namespace weft {
namespace {

constexpr double same = 1e-9;

// `found`: most first.
void add(std::vector<LinkBytes>& found, const LinkBytes& link, std::size_t most) {
    const auto place = std::ranges::find_if(
        found, [&](const LinkBytes& each) { return link.bytes.value >= each.bytes.value * (1.0 - same); });
    if (place != found.end() && std::abs((link.bytes - place->bytes).value) <= same * link.bytes.value) {
        place->alike += link.alike;
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
                               .links = each.alike});
        }
    }
    std::ranges::stable_sort(hottest, std::ranges::greater{}, &HotLink::busy);
    return hottest;
}

}  // namespace weft
