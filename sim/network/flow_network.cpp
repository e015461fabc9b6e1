#include "sim/network/flow_network.hpp"

#include <algorithm>
#include <utility>

namespace weft {

FlowNetwork::FlowNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows)
    : FlowsUnderWay(topology, patterns, flows),
      max_min_(drop_implied(find_constraints(topology, crossed_), patterns.size()), patterns),
      patterns_(patterns.size()) {
    stale_.reserve(patterns.size());
}

FlowId FlowNetwork::start(Instant now, PatternId pattern, Bytes bytes) {
    WEFT_CHECK(std::isfinite(bytes.value) && bytes.value > 0.0, "a flow needs bytes to move");
    WEFT_CHECK(index(pattern) < patterns_.size(), "unknown pattern");
    if (now != clock_) {
        WEFT_CHECK(clock_ < now && now <= next_change(), "a flow must start now, before anything else changes");
        clock_ = now;
    }
    const FlowId id = flows_.add({pattern, {}, {}, now, bytes, {}});
    link_up(id);
    return id;
}

// The pattern's last flow may have finished at this very instant.
bool FlowNetwork::reserve(PatternId pattern) {
    if (patterns_[pattern].flows > 0) return false;
    bring_flows_up_to_date(pattern);
    return max_min_.reserve(pattern);
}

void FlowNetwork::deliver(PatternId pattern, Bytes bytes, double flows) {
    const BytesPerSecond rate = lone_rate(pattern);
    patterns_[pattern].moved += rate * (bytes / rate) * flows;  // over the unrounded time
}

FlowId FlowNetwork::resume(Instant now, PatternId pattern, Bytes bytes, Instant since) {
    WEFT_CHECK(since <= now, "a flow that goes on has begun");
    patterns_[pattern].rate = lone_rate(pattern);  // which it has had so far; others come to its pattern only now
    const FlowId id = start(now, pattern, bytes);
    flows_[id].since = since;
    return id;
}

Instant FlowNetwork::next_change() {
    solve_if_stale();
    return finishes_.next();
}

void FlowNetwork::advance(Instant now, std::vector<FlowId>& done) {
    finish_at(now, next_change(), done, [this](FlowId id) { finish(id); });
}

BytesPerSecond FlowNetwork::rate(FlowId flow) {
    solve_if_stale();
    return patterns_[flows_[flow].pattern].rate;
}

void FlowNetwork::bring_flows_up_to_date(PatternId id) {
    PatternFlows& pattern = patterns_[id];
    if (pattern.flows == pattern.solved_flows) return;
    pattern.solved_flows = pattern.flows;
    max_min_.set_flows(id, pattern.flows);
    has_changed_ = true;
}

// A pattern on which one flow followed another at the same instant is as it was: only the new flow needs an end. Where
// one that had room has to go, it goes first: rates that no time passes at would only be rounded.
void FlowNetwork::solve_if_stale() {
    if (stale_.empty()) return;
    for (const PatternId id : stale_) bring_flows_up_to_date(id);
    if (max_min_.has_crowded_out()) return;
    if (std::exchange(has_changed_, false)) {
        ++solves_;
        for (const PatternId id : max_min_.solve()) apply_rate(id);
    }
    for (const PatternId id : stale_) {
        schedule_new(id);
        patterns_[id].is_stale = false;
    }
    stale_.clear();
}

void FlowNetwork::apply_rate(PatternId id) {
    PatternFlows& pattern = patterns_[id];
    const BytesPerSecond rate = max_min_.rate(id);
    if (rate == pattern.rate) return;
    FlowId flow = pattern.first;
    for (std::uint32_t i = 0; i < pattern.flows; ++i, flow = flows_[flow].next) settle(flows_[flow]);
    pattern.rate = rate;
    for (std::uint32_t i = 0; i < pattern.flows; ++i, flow = flows_[flow].next) schedule(flow);
}

void FlowNetwork::schedule_new(PatternId id) {
    FlowId flow = patterns_[id].first;
    for (std::uint32_t i = 0; i < patterns_[id].flows; ++i, flow = flows_[flow].next) {
        if (!finishes_.contains(flow)) schedule(flow);
    }
}

void FlowNetwork::schedule(FlowId id) {
    const SharingFlow& flow = flows_[id];
    finishes_.set(id, flow.since + flow.remaining / patterns_[flow.pattern].rate);
}

// Brings a flow up to the present at the rate it has had since.
void FlowNetwork::settle(SharingFlow& flow) {
    if (flow.since == clock_) return;
    const Bytes moved = std::min(flow.remaining, patterns_[flow.pattern].rate * (clock_ - flow.since));
    record(flow.pattern, moved, flow.since, clock_);
    flow.moved += moved;
    flow.remaining -= moved;
    flow.since = clock_;
}

// The clock rounds the end of a flow to a tick. Its bytes are integrated over the unrounded time, which may differ from
// the rounded one by no more than that.
void FlowNetwork::finish(FlowId id) {
    SharingFlow& flow = flows_[id];
    PatternFlows& pattern = patterns_[flow.pattern];
    const Seconds unrounded = flow.remaining / pattern.rate;
    WEFT_CHECK(flow.since + unrounded == clock_, "a flow finished at an instant that its rate does not explain");
    record(flow.pattern, flow.remaining, flow.since, clock_);
    flow.moved += pattern.rate * unrounded;
    pattern.moved += flow.moved;
    unlink(id);
    flows_.remove(id);
}

void FlowNetwork::link_up(FlowId id) {
    SharingFlow& flow = flows_[id];
    PatternFlows& pattern = patterns_[flow.pattern];
    if (pattern.flows++ == 0) {
        pattern.first = flow.previous = flow.next = id;
    } else {
        flow.next = pattern.first;
        flow.previous = flows_[pattern.first].previous;
        flows_[flow.previous].next = flows_[flow.next].previous = id;
    }
    mark_stale(flow.pattern);
}

void FlowNetwork::unlink(FlowId id) {
    const SharingFlow& flow = flows_[id];
    PatternFlows& pattern = patterns_[flow.pattern];
    --pattern.flows;
    if (pattern.first == id) pattern.first = flow.next;
    flows_[flow.previous].next = flow.next;
    flows_[flow.next].previous = flow.previous;
    mark_stale(flow.pattern);
}

void FlowNetwork::mark_stale(PatternId pattern) {
    if (!std::exchange(patterns_[pattern].is_stale, true)) stale_.push_back(pattern);
}

namespace {

BytesPerSecond rate_alone(const Topology& topology, const Pattern& pattern) {
    if (std::isfinite(pattern.alone.value)) return std::min(pattern.cap, pattern.alone);
    BytesPerSecond rate = pattern.cap;
    for (const LinkLoad& load : pattern.loads) rate = std::min(rate, topology.link(load.link).bandwidth);
    return rate;
}

}  // namespace

IdealNetwork::IdealNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows)
    : FlowsUnderWay(topology, patterns, flows), patterns_(patterns.size()) {
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) {
        patterns_[id].rate = rate_alone(topology, patterns[id]);
    }
}

FlowId IdealNetwork::start(Instant now, PatternId pattern, Bytes bytes) {
    WEFT_CHECK(std::isfinite(bytes.value) && bytes.value > 0.0, "a flow needs bytes to move");
    WEFT_CHECK(index(pattern) < patterns_.size(), "unknown pattern");
    WEFT_CHECK(clock_ <= now && now <= next_change(), "a flow must start now, before anything else changes");
    const BytesPerSecond rate = patterns_[pattern].rate;
    WEFT_CHECK(std::isfinite(rate.value), "nothing limits the rate of a pattern");
    clock_ = now;
    const FlowId id = flows_.add({pattern, now, bytes});
    finishes_.set(id, now + bytes / rate);
    return id;
}

void IdealNetwork::advance(Instant now, std::vector<FlowId>& done) {
    finish_at(now, next_change(), done, [this](FlowId id) {
        const LoneFlow& flow = flows_[id];
        deliver(flow.pattern, flow.bytes, 1.0);
        record(flow.pattern, flow.bytes, flow.begin, clock_);
        flows_.remove(id);
    });
}

void IdealNetwork::deliver(PatternId id, Bytes bytes, double flows) {
    PatternFlows& pattern = patterns_[id];
    pattern.moved += pattern.rate * (bytes / pattern.rate) * flows;  // over the unrounded time
}

FlowId IdealNetwork::resume(Instant now, PatternId pattern, Bytes bytes, Instant since) {
    const FlowId id = start(now, pattern, bytes);
    flows_[id].begin = since;
    finishes_.set(id, since + bytes / patterns_[pattern].rate);
    return id;
}

}  // namespace weft
