#include "sim/explicit/route_network.hpp"

#include <cmath>

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

FlowId RouteNetwork::start_on(Instant now, std::span<const LinkId> links, const MessageLoad& load, Bytes bytes,
                              BytesPerSecond cap) {
    WEFT_CHECK(std::isfinite(bytes.value) && bytes.value > 0.0, "a flow needs bytes to move");
    if (now != clock_) {
        WEFT_CHECK(clock_ < now && now <= next_change(), "a flow must start now, before anything else changes");
        clock_ = now;
    }
    const FlowId id = flows_.add({now, bytes, {}, {}});
    if (max_min_.enter(id, links, load, cap)) {
        set_rate(id);
    } else {
        rates_ = Rates::stale;
    }
    return id;
}

Instant RouteNetwork::next_change() {
    solve_if_stale();
    return finishes_.next();
}

BytesPerSecond RouteNetwork::rate(FlowId flow) {
    solve_if_stale();
    return max_min_.rate(flow);
}

void RouteNetwork::advance(Instant now, std::vector<FlowId>& done) {
    WEFT_CHECK(clock_ <= now && now <= next_change(), "the network cannot skip its next change or go back");
    clock_ = now;
    const auto first = static_cast<std::ptrdiff_t>(done.size());
    if (finishes_.next() == now) finishes_.take_first(done);
    for (auto id = done.begin() + first; id != done.end(); ++id) finish(*id);
}

void RouteNetwork::solve_if_stale() {
    if (rates_ == Rates::current) return;
    rates_ = Rates::current;
    ++solves_;
    max_min_.solve([this](FlowId id) { set_rate(id); });
}

void RouteNetwork::set_rate(FlowId id) {
    Flow& flow = flows_[id];
    const Bytes moved = std::min(flow.remaining, flow.rate * (clock_ - flow.since));
    flow.moved += moved;
    flow.remaining -= moved;
    flow.since = clock_;
    flow.rate = max_min_.rate(id);
    finishes_.set(id, clock_ + flow.remaining / flow.rate);
}

// As FlowNetwork::finish: the end is rounded to a tick, the bytes are integrated over the unrounded time.
void RouteNetwork::finish(FlowId id) {
    Flow& flow = flows_[id];
    const Seconds unrounded = flow.remaining / flow.rate;
    WEFT_CHECK(flow.since + unrounded == clock_, "a flow finished at an instant that its rate does not explain");
    delivered_ += flow.moved + flow.rate * unrounded;
    if (!max_min_.leave(id)) rates_ = Rates::stale;
    flows_.remove(id);
}

}  // namespace weft
