// How much links carried in a run, by class.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Fills in the utilization of a finished run.
template <NetworkModel N>
void sum_up_links(const Topology& topology, const N& network, Timeline& timeline) {
    std::vector<double> links(topology.classes.size(), 0.0);
    timeline.utilization = Table<LinkClassId, double>(topology.classes.size(), 0.0);
    timeline.peak_utilization = timeline.utilization;
    if (timeline.end == Instant{}) return;
    for (LinkId link{}; link != topology.link_class.end_id(); link = next(link)) {
        const LinkClassId id = topology.link_class[link];
        const double busy = network.carried(link) / (topology.link(link).bandwidth * since_start(timeline.end));
        timeline.utilization[id] += busy;
        timeline.peak_utilization[id] = std::max(timeline.peak_utilization[id], busy);
        ++links[index(id)];
    }
    for (LinkClassId id{}; id != topology.classes.end_id(); id = next(id)) {
        if (links[index(id)] > 0.0) timeline.utilization[id] /= links[index(id)];
    }
}

}  // namespace weft
