#include "sim/collective/busiest_links.hpp"

#include <algorithm>

namespace weft {
namespace {

BytesPerSecond slowest_class(const Topology& topology) {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (const LinkClass& each : topology.classes) least = std::min(least, each.bandwidth);
    return least;
}

// Whether a detour can avoid the link: all routes between two ranks use the same links inside nodes and at their ports.
bool is_of_network(LinkId link, const Topology& topology) {
    if (topology.wiring != nullptr) return topology.wiring->joins_switches(link);
    const LinkEnds ends = topology.ends(link);
    const NodeKind tail = topology.node_kind(ends.tail), head = topology.node_kind(ends.head);
    return (tail == NodeKind::network_switch || head == NodeKind::network_switch) && tail != NodeKind::nic &&
           head != NodeKind::nic;
}

}  // namespace

StraightTraffic::StraightTraffic(const LinkLoads& loads, const Topology& topology) {
    const double slowest = slowest_class(topology).value;
    double relieved_time = 0.0, other_time = 0.0, least = 0.0;
    LinkLoads::Units negligible = 0;  // less busy than both on any link
    loads.for_each([&](LinkId id, const LinkLoads::Cell& cell) {
        if (cell.straight() <= negligible) return;
        const BytesPerSecond bandwidth = topology.link(id).bandwidth;
        const double time = cell.at(0.0) / bandwidth.value;
        if (time <= least) return;
        const bool is_relieved = cell[Way::minimal] > 0.0 && is_of_network(id, topology);
        double& most = is_relieved ? relieved_time : other_time;
        if (time <= most) return;
        most = time;
        (is_relieved ? relieved : other) = {cell, bandwidth};
        least = std::min(relieved_time, other_time);
        negligible = LinkLoads::units_within(least * slowest);
    });
}

BusiestLinks::BusiestLinks(const Topology& topology) : topology_(topology), slowest_(slowest_class(topology)) {}

// The time of a link, (fixed + (1 - q) minimal + q detour) / bandwidth, is a straight line over q: one that is nowhere
// above another from q = 0 to 1 bounds nothing. All are held against one line, the highest so far where it is lowest.
void BusiestLinks::find(const LinkLoads& loads) {
    links_.clear();
    double at_zero = 0.0, at_one = 0.0;           // of that line
    LinkLoads::Units straight = 0, detoured = 0;  // loads that are below it on any link
    loads.for_each([&](LinkId id, const LinkLoads::Cell& cell) {
        if (cell.straight() <= straight && cell.detoured() <= detoured) return;
        const BusyLink link{cell, topology_.link(id).bandwidth};
        const double from = link.time(0.0), to = link.time(1.0);
        if (from <= at_zero && to <= at_one) return;
        links_.push_back(link);
        if (std::min(from, to) <= std::min(at_zero, at_one)) return;
        at_zero = from, at_one = to;
        straight = LinkLoads::units_within(from * slowest_.value);
        detoured = LinkLoads::units_within(to * slowest_.value);
    });
}

double BusiestLinks::best_share() {
    lines_.clear();
    for (const BusyLink& link : links_) {
        const double minimal = link.cell[Way::minimal], detour = link.cell[Way::detour];
        lines_.push_back({.at_zero = link.time(0.0), .slope = (detour - minimal) / link.bandwidth.value});
    }
    return lines_.empty() ? 0.0 : lowest_point(lines_);
}

BytesPerSecond BusiestLinks::rate(double share) const {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (const BusyLink& link : links_) least = std::min(least, link.rate(share));
    return least;
}

}  // namespace weft
