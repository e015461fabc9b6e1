#include "sim/explicit/route_max_min.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

constexpr double least_load = 0.25, most_load = 100.0;  // that protocols and headers make of a byte

}  // namespace

RouteMaxMin::RouteMaxMin(const Topology& topology) : links_(topology.links()) {
    for (LinkId link{}; link != links_.end_id(); link = next(link)) {
        links_[link].capacity = topology.link(link).bandwidth.value;
        filling_.add_constraint(topology.link(link).bandwidth, least_load, most_load, 0);
    }
}

void RouteMaxMin::enter(FlowId id, std::span<const LinkId> route, double load, BytesPerSecond cap) {
    WEFT_CHECK(!route.empty(), "a flow without links has no rate");
    WEFT_CHECK(load >= least_load && load <= most_load, "a flow loads its links with what it says");
    while (index(id) >= flows_.size()) {
        flows_.push_back({});
        filling_.add_pattern(0);
    }
    FlowState& flow = flows_[id];
    WEFT_CHECK(flow.hops == 0, "a flow enters once");
    flow = {load, static_cast<std::uint32_t>(route.size())};
    std::ranges::copy(route, routes_.make_room(id, route.size()).begin());
    double least = std::numeric_limits<double>::infinity();
    for (const LinkId link : route) least = std::min(least, links_[link].capacity);
    filling_.set_flows(pattern_of(id), 1, std::min(cap.value, least / load));
    for (const LinkId at : route) {
        LinkState& link = links_[at];
        link.load += load;
        if (link.flows++ == 0) {
            link.only = id;
            continue;
        }
        if (link.flows == 2) filling_.attach(pattern_of(link.only), constraint_of(at), flows_[link.only].load);
        filling_.attach(pattern_of(id), constraint_of(at), load);
        if (link.capacity == least && cap.value >= least / load) filling_.expect_full(constraint_of(at));
    }
}

void RouteMaxMin::leave(FlowId id) {
    FlowState& flow = flows_[id];
    filling_.set_flows(pattern_of(id), 0, 0.0);
    filling_.detach_all(pattern_of(id));
    for (const LinkId at : routes_.first(id, std::exchange(flow.hops, 0))) {
        LinkState& link = links_[at];
        link.load = --link.flows == 0 ? 0.0 : link.load - flow.load;
        if (link.flows != 1) continue;
        link.only = FlowId(static_cast<std::uint32_t>(filling_.only_one_on(constraint_of(at))));
        filling_.detach_all(constraint_of(at));
    }
}

BytesPerSecond RouteMaxMin::fair_share(const Route& route, double load) const {
    double share = std::numeric_limits<double>::infinity();
    for (const LinkId id : route.links()) share = std::min(share, links_[id].capacity / (links_[id].load + load));
    return {share};
}

}  // namespace weft
