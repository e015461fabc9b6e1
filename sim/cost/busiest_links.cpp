#include "sim/cost/busiest_links.hpp"

#include <algorithm>

namespace weft {
namespace {

BytesPerSecond slowest_class(const Topology& topology) {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (const LinkClass& each : topology.classes) least = std::min(least, each.bandwidth);
    return least;
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
        // All routes between two ranks use the same links inside nodes and at their ports.
        const bool is_relieved = cell[Way::minimal] > 0.0 && topology.joins_switches(id);
        double& most = is_relieved ? relieved_time : other_time;
        if (time <= most) return;
        most = time;
        (is_relieved ? relieved : other) = {cell, bandwidth};
        least = std::min(relieved_time, other_time);
        negligible = LinkLoads::units_within(least * slowest);
    });
}

BusiestLinks::BusiestLinks(const Topology& topology) : topology_(topology), slowest_(slowest_class(topology)) {}

void BusiestLinks::find(const LinkLoads& loads) {
    links_.clear();
    at_zero_ = at_one_ = 0.0;
    straight_ = detoured_ = 0;
    loads.for_each([&](LinkId link, const LinkLoads::Cell& cell) { add(link, cell); });
}

// The time of a link, (fixed + (1 - q) minimal + q detour) / bandwidth, is a straight line over q: one that is nowhere
// above another from q = 0 to 1 bounds nothing. All are held against one line, the highest so far where it is lowest.
void BusiestLinks::add(LinkId id, const LinkLoads::Cell& cell) {
    if (cell.straight() <= straight_ && cell.detoured() <= detoured_) return;
    const BusyLink link{cell, topology_.link(id).bandwidth};
    const double from = link.time(0.0), to = link.time(1.0);
    if (from <= at_zero_ && to <= at_one_) return;
    links_.push_back(link);
    if (std::min(from, to) <= std::min(at_zero_, at_one_)) return;
    at_zero_ = from, at_one_ = to;
    straight_ = LinkLoads::units_within(from * slowest_.value);
    detoured_ = LinkLoads::units_within(to * slowest_.value);
}

BusiestLinks::Settled BusiestLinks::settle() {
    double share = topology_.routing == Routing::valiant ? 1.0 : 0.0;
    if (topology_.routing == Routing::adaptive) share = best_share();
    return {.detoured = share, .rate = rate(share)};
}

// Of what is left, only lines that are somewhere above each other one, so that the order of links decides nothing.
double BusiestLinks::best_share() {
    if (links_.empty()) return 0.0;
    ends_.clear();
    for (const BusyLink& link : links_) {
        const double minimal = link.cell[Way::minimal], detour = link.cell[Way::detour];
        ends_.emplace_back(link.time(0.0), link.time(1.0), (detour - minimal) / link.bandwidth.value);
    }
    std::ranges::sort(ends_, std::ranges::greater{});
    lines_.clear();
    double most = -1.0;  // at one
    for (const auto& [at_zero, at_one, slope] : ends_) {
        if (at_one <= most) continue;
        most = at_one;
        lines_.push_back({.at_zero = at_zero, .slope = slope});
    }
    return lowest_point(lines_);
}

BytesPerSecond BusiestLinks::rate(double share) const {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (const BusyLink& link : links_) least = std::min(least, link.rate(share));
    return least;
}

}  // namespace weft
