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
        links_[link].joins_switches = topology.joins_switches(link);
        filling_.add_constraint(topology.link(link).bandwidth, least_load, most_load, 0);
    }
}

bool RouteMaxMin::enter(FlowId id, std::span<const LinkId> route, const MessageLoad& load, BytesPerSecond cap) {
    WEFT_CHECK(!route.empty(), "a flow without links has no rate");
    for (const double each : {load.at_ends, load.between_switches}) {
        WEFT_CHECK(each >= least_load && each <= most_load, "a flow loads its links with what it says");
    }
    while (index(id) >= flows_.size()) {
        flows_.push_back({});
        filling_.add_pattern(0);
    }
    FlowState& flow = flows_[id];
    WEFT_CHECK(flow.hops == 0, "a flow enters once");
    flow = {load, static_cast<std::uint32_t>(route.size())};
    std::ranges::copy(route, routes_.make_room(id, route.size()).begin());
    double least = std::numeric_limits<double>::infinity();
    bool is_alone = true;
    for (const LinkId link : route) {
        least = std::min(least, links_[link].capacity / load.on(links_[link].joins_switches));
        is_alone = is_alone && links_[link].flows == 0;
    }
    const double limit = std::min(cap.value, least);
    if (is_alone) {
        filling_.set_alone(pattern_of(id), 1, limit);
    } else {
        filling_.set_flows(pattern_of(id), 1, limit);
    }
    for (const LinkId at : route) {
        LinkState& link = links_[at];
        const double own = load.on(link.joins_switches);
        link.load += own;
        if (link.flows++ == 0) {
            link.only = id;
            continue;
        }
        if (link.flows == 2)
            filling_.attach(pattern_of(link.only), constraint_of(at), flows_[link.only].load.on(link.joins_switches));
        filling_.attach(pattern_of(id), constraint_of(at), own);
        if (link.capacity / own == least && cap.value >= least) filling_.expect_full(constraint_of(at));
    }
    return is_alone;
}

bool RouteMaxMin::leave(FlowId id) {
    FlowState& flow = flows_[id];
    const bool is_alone = !filling_.is_on_any(pattern_of(id));
    if (is_alone) {
        filling_.set_alone(pattern_of(id), 0, 0.0);
    } else {
        filling_.set_flows(pattern_of(id), 0, 0.0);
        filling_.detach_all(pattern_of(id));
    }
    for (const LinkId at : routes_.first(id, std::exchange(flow.hops, 0))) {
        LinkState& link = links_[at];
        link.load = --link.flows == 0 ? 0.0 : link.load - flow.load.on(link.joins_switches);
        if (link.flows != 1) continue;
        link.only = FlowId(static_cast<std::uint32_t>(filling_.only_one_on(constraint_of(at))));
        filling_.detach_all(constraint_of(at));
    }
    return is_alone;
}

BytesPerSecond RouteMaxMin::fair_share(const Route& route, const MessageLoad& load) const {
    double share = std::numeric_limits<double>::infinity();
    for (const LinkId id : route.links()) {
        const LinkState& link = links_[id];
        share = std::min(share, link.capacity / (link.load + load.on(link.joins_switches)));
    }
    return {share};
}

}  // namespace weft
