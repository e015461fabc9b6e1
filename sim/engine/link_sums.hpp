// How much links carried in a run, by class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/network/link_patterns.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Fills in the utilization of a finished run. Links that no pattern crosses carried nothing, unless one that a pattern
// crosses stands for them.
template <NetworkModel N>
void sum_up_links(const Topology& topology, const N& network, Timeline& timeline) {
    timeline.utilization = Table<LinkClassId, double>(topology.classes.size(), 0.0);
    timeline.peak_utilization = timeline.utilization;
    if (timeline.end == Instant{}) return;
    const LinkPatterns& crossed = network.crossed();
    const std::span<const LinkId> links = crossed.links();
    for (std::size_t place = 0; place < links.size(); ++place) {
        const LinkClassId id = topology.link_class(links[place]);
        const double busy =
            carried(network, crossed.on(place)) / (topology.link(links[place]).bandwidth * since_start(timeline.end));
        timeline.utilization[id] += crossed.stands_for(place) * busy;
        timeline.peak_utilization[id] = std::max(timeline.peak_utilization[id], busy);
    }
    const Table<LinkClassId, std::uint32_t> total = topology.links_of_class();
    for (LinkClassId id{}; id != topology.classes.end_id(); id = next(id)) {
        if (total[id] > 0) timeline.utilization[id] /= total[id];
    }
}

}  // namespace weft
