#include "sim/explicit/route_network.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace weft {

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
