#include "sim/network/route_max_min.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/event/heap.hpp"

namespace weft {
namespace {

// Levels this close are one level: see max_min.cpp.
constexpr double same_level = 1e-12;
// A link is used up, and rates are equal, to within this: far above what sums of thousands of rates are rounded by.
constexpr double tolerance = 1e-10;

constexpr LinkId nowhere{std::numeric_limits<std::uint32_t>::max()};

}  // namespace

RouteMaxMin::RouteMaxMin(const Topology& topology) : links_(topology.link_class.size()) {
    for (LinkId link{}; link != links_.end_id(); link = next(link)) {
        links_[link].capacity = topology.link(link).bandwidth.value;
    }
}

void RouteMaxMin::enter(FlowId id, const Route& route, double load, BytesPerSecond cap) {
    WEFT_CHECK(route.hops > 0, "a flow without links has no rate");
    while (index(id) >= flows_.size()) flows_.push_back({});
    FlowState& flow = flows_[id];
    WEFT_CHECK(flow.hops == 0, "a flow enters once");
    flow = {.load = load, .cap = cap.value, .bottleneck = nowhere, .hops = route.hops};
    for (std::size_t i = 0; i < route.hops; ++i) {
        LinkState& link = links_[route.hop[i]];
        flow.hop[i] = {route.hop[i], static_cast<std::uint32_t>(link.flows.size())};
        link.flows.push_back(id);
        link.load += load;
        mark_dirty(route.hop[i]);
    }
    entered_.push_back(id);
}

void RouteMaxMin::leave(FlowId id) {
    FlowState& flow = flows_[id];
    for (const Hop& hop : hops(flow)) {
        std::vector<FlowId>& list = links_[hop.link].flows;
        const FlowId last = list[hop.place] = list.back();
        list.pop_back();
        links_[hop.link].load = list.empty() ? 0.0 : links_[hop.link].load - flow.load;
        for (Hop& other : std::span(flows_[last].hop.data(), flows_[last].hops)) {
            if (other.link == hop.link) other.place = hop.place;
        }
        mark_dirty(hop.link);
    }
    flow.hops = 0;
}

BytesPerSecond RouteMaxMin::fair_share(const Route& route, double load) const {
    double share = std::numeric_limits<double>::infinity();
    for (const LinkId id : route.links()) share = std::min(share, links_[id].capacity / (links_[id].load + load));
    return {share};
}

void RouteMaxMin::mark_dirty(LinkId link) {
    if (std::exchange(links_[link].dirty, solve_) != solve_) dirty_.push_back(link);
}

void RouteMaxMin::touch(LinkId link) {
    if (std::exchange(links_[link].touched, solve_) != solve_) touched_.push_back(link);
}

void RouteMaxMin::move(FlowId id) {
    FlowState& flow = flows_[id];
    if (std::exchange(flow.moving, solve_) == solve_) return;
    flow.held_rate = flow.rate;
    moving_.push_back(id);
}

std::span<const FlowId> RouteMaxMin::solve() {
    moving_.clear();
    touched_.clear();
    changed_.clear();
    for (const FlowId id : entered_) {
        if (flows_[id].hops > 0) move(id);
    }
    for (const LinkId link : dirty_) {
        touch(link);
        for (const FlowId id : links_[link].flows) {
            if (flows_[id].bottleneck == link) move(id);
        }
    }
    for (std::size_t known = 0; known < moving_.size();) {
        for (; known < moving_.size(); ++known) {
            for (const Hop& hop : hops(flows_[moving_[known]])) touch(hop.link);
        }
        fill();
        move_disturbed();
    }
    for (const FlowId id : moving_) {
        if (flows_[id].rate != flows_[id].held_rate) changed_.push_back(id);
    }
    entered_.clear();
    dirty_.clear();
    ++solve_;
    return changed_;
}

// Progressive filling of what held flows leave: as MaxMin::fill.
void RouteMaxMin::fill() {
    ++filling_;
    gather_limits();
    double level = 0.0;
    for (std::size_t rising = moving_.size(); rising > 0;) {
        WEFT_CHECK(!limits_.empty(), "nothing limits the rate of a flow");
        Limit limit = heap::pop(limits_, lower);
        if (has_moved_up(limit)) {
            heap::push(limits_, limit, lower);
            continue;
        }
        if (limit.level > level * (1.0 + same_level)) level = limit.level;
        rising -= stop(limit, level);
    }
}

bool RouteMaxMin::has_moved_up(Limit& limit) const {
    if (limit.what >= links_.size()) return false;
    const LinkState& link = links_[LinkId(static_cast<std::uint32_t>(limit.what))];
    if (link.rising == 0) return false;
    const double level = std::max(link.residual, 0.0) / link.demand;
    return level > std::exchange(limit.level, std::max(limit.level, level));
}

void RouteMaxMin::gather_limits() {
    limits_.clear();
    for (const LinkId id : touched_) {
        LinkState& link = links_[id];
        link.residual = link.capacity;
        link.demand = 0.0;
        link.rising = 0;
        for (const FlowId on : link.flows) {
            const FlowState& flow = flows_[on];
            if (is_moving(flow)) {
                link.demand += flow.load;
                ++link.rising;
            } else {
                link.residual -= flow.load * flow.rate;
            }
        }
        if (link.rising > 0) limits_.push_back({std::max(link.residual, 0.0) / link.demand, index(id)});
    }
    for (const FlowId id : moving_) {
        const double cap = flows_[id].cap;
        if (std::isfinite(cap)) limits_.push_back({cap, links_.size() + index(id)});
    }
    heap::make(limits_, lower);
}

// Stops the rising flows that a limit concerns. Returns how many.
std::size_t RouteMaxMin::stop(const Limit& limit, double level) {
    const auto rises = [&](const FlowState& flow) { return is_moving(flow) && flow.frozen != filling_; };
    if (limit.what >= links_.size()) {
        FlowState& flow = flows_[FlowId(static_cast<std::uint32_t>(limit.what - links_.size()))];
        if (!rises(flow)) return 0;
        freeze(flow, level, nowhere);
        return 1;
    }
    const LinkId at{static_cast<std::uint32_t>(limit.what)};
    if (links_[at].rising == 0) return 0;
    std::size_t stopped = 0;
    for (const FlowId id : links_[at].flows) {
        if (!rises(flows_[id])) continue;
        freeze(flows_[id], level, at);
        ++stopped;
    }
    return stopped;
}

void RouteMaxMin::freeze(FlowState& flow, double level, LinkId bottleneck) {
    flow.frozen = filling_;
    flow.rate = level;
    flow.bottleneck = bottleneck;
    for (const Hop& hop : hops(flow)) {
        LinkState& link = links_[hop.link];
        link.residual -= flow.load * level;
        link.demand -= flow.load;
        --link.rising;
    }
}

void RouteMaxMin::move_disturbed() {
    const std::size_t links = touched_.size();
    for (std::size_t i = 0; i < links; ++i) move_disturbed_on(touched_[i]);
}

void RouteMaxMin::move_disturbed_on(LinkId at) {
    const LinkState& link = links_[at];
    double used = 0.0, fastest = 0.0;
    double stopped = std::numeric_limits<double>::infinity();  // slowest of the moving flows that this link stopped
    for (const FlowId id : link.flows) {
        const FlowState& flow = flows_[id];
        used += flow.load * flow.rate;
        fastest = std::max(fastest, flow.rate);
        if (is_moving(flow) && flow.bottleneck == at) stopped = std::min(stopped, flow.rate);
    }
    const bool is_full = used >= link.capacity * (1.0 - tolerance);
    for (const FlowId id : link.flows) {
        const FlowState& flow = flows_[id];
        if (is_moving(flow)) continue;
        const bool lost = flow.bottleneck == at && !(is_full && flow.rate >= fastest * (1.0 - tolerance));
        if (lost || flow.rate > stopped * (1.0 + tolerance)) move(id);
    }
}

}  // namespace weft
