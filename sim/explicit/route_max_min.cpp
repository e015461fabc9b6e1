#include "sim/explicit/route_max_min.hpp"

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

RouteMaxMin::RouteMaxMin(const Topology& topology) : links_(topology.links()) {
    for (LinkId link{}; link != links_.end_id(); link = next(link)) {
        links_[link].capacity = topology.link(link).bandwidth.value;
    }
}

void RouteMaxMin::enter(FlowId id, std::span<const LinkId> route, double load, BytesPerSecond cap) {
    WEFT_CHECK(!route.empty(), "a flow without links has no rate");
    while (index(id) >= flows_.size()) flows_.push_back({});
    FlowState& flow = flows_[id];
    WEFT_CHECK(flow.hops == 0, "a flow enters once");
    flow = {.load = load, .cap = cap.value, .bottleneck = nowhere, .hops = static_cast<std::uint32_t>(route.size())};
    const std::span<Hop> hops = hops_.make_room(id, route.size());
    for (std::uint32_t i = 0; i < route.size(); ++i) {
        LinkState& link = links_[route[i]];
        hops[i] = {route[i], static_cast<std::uint32_t>(link.flows.size())};
        if (!link.flows.empty()) mark_dirty(route[i]);
        link.flows.push_back({id, i});
        link.load += load;
    }
    entered_.push_back(id);
}

void RouteMaxMin::leave(FlowId id) {
    FlowState& flow = flows_[id];
    for (const Hop& hop : hops(id)) {
        LinkState& link = links_[hop.link];
        const Passage last = link.flows[hop.place] = link.flows.back();
        link.flows.pop_back();
        link.load = link.flows.empty() ? 0.0 : link.load - flow.load;
        hops_.first(last.flow, last.hop + 1)[last.hop].place = hop.place;
        if (!link.flows.empty()) mark_dirty(hop.link);
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

// A flow that is alone on all its links takes what they have: nothing to fill, and nobody to disturb.
void RouteMaxMin::move_or_settle(FlowId id) {
    FlowState& flow = flows_[id];
    if (is_moving(flow)) return;
    double least = std::numeric_limits<double>::infinity();
    LinkId narrowest = nowhere;
    for (const Hop& hop : hops(id)) {
        const LinkState& link = links_[hop.link];
        if (link.flows.size() > 1) return move(id);
        if (link.capacity < least) {
            least = link.capacity;
            narrowest = hop.link;
        }
    }
    flow.moving = solve_;
    const double rate = std::min(least / flow.load, flow.cap);
    flow.bottleneck = rate < flow.cap ? narrowest : nowhere;
    if (std::exchange(flow.rate, rate) != rate) changed_.push_back(id);
}

std::span<const FlowId> RouteMaxMin::solve() {
    moving_.clear();
    touched_.clear();
    changed_.clear();
    for (const FlowId id : entered_) {
        if (flows_[id].hops > 0) move_or_settle(id);
    }
    for (const LinkId link : dirty_) {
        for (const Passage& on : links_[link].flows) {
            if (flows_[on.flow].bottleneck == link) move_or_settle(on.flow);
        }
        if (links_[link].flows.size() > 1) touch(link);
    }
    for (std::size_t known = 0; known < moving_.size();) {
        for (; known < moving_.size(); ++known) {
            for (const Hop& hop : hops(moving_[known])) touch(hop.link);
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
        for (const Passage& on : link.flows) {
            const FlowState& flow = flows_[on.flow];
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
        const FlowId id{static_cast<std::uint32_t>(limit.what - links_.size())};
        if (!rises(flows_[id])) return 0;
        freeze(id, level, nowhere);
        return 1;
    }
    const LinkId at{static_cast<std::uint32_t>(limit.what)};
    if (links_[at].rising == 0) return 0;
    std::size_t stopped = 0;
    for (const Passage& on : links_[at].flows) {
        if (!rises(flows_[on.flow])) continue;
        freeze(on.flow, level, at);
        ++stopped;
    }
    return stopped;
}

void RouteMaxMin::freeze(FlowId id, double level, LinkId bottleneck) {
    FlowState& flow = flows_[id];
    flow.frozen = filling_;
    flow.rate = level;
    flow.bottleneck = bottleneck;
    for (const Hop& hop : hops(id)) {
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
    for (const Passage& on : link.flows) {
        const FlowState& flow = flows_[on.flow];
        used += flow.load * flow.rate;
        fastest = std::max(fastest, flow.rate);
        if (is_moving(flow) && flow.bottleneck == at) stopped = std::min(stopped, flow.rate);
    }
    const bool is_full = used >= link.capacity * (1.0 - tolerance);
    for (const Passage& on : link.flows) {
        const FlowState& flow = flows_[on.flow];
        if (is_moving(flow)) continue;
        const bool lost = flow.bottleneck == at && !(is_full && flow.rate >= fastest * (1.0 - tolerance));
        if (lost || flow.rate > stopped * (1.0 + tolerance)) move(on.flow);
    }
}

}  // namespace weft
