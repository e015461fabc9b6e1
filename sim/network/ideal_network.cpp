#include "sim/network/ideal_network.hpp"

#include <algorithm>
#include <cmath>

#include "sim/base/check.hpp"

namespace weft {
namespace {

BytesPerSecond rate_alone(const Topology& topology, const Pattern& pattern) {
    if (std::isfinite(pattern.alone.value)) return std::min(pattern.cap, pattern.alone);
    BytesPerSecond rate = pattern.cap;
    for (const LinkLoad& load : pattern.loads) rate = std::min(rate, topology.link(load.link).bandwidth);
    return rate;
}

}  // namespace

IdealNetwork::IdealNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows)
    : crossed_(topology, patterns), patterns_(patterns.size()) {
    for (PatternId id{}; id != patterns.end_id(); id = next(id)) {
        patterns_[id].rate = rate_alone(topology, patterns[id]);
    }
    flows_.reserve(flows);
    finishes_.reserve(flows);
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
    WEFT_CHECK(clock_ <= now && now <= next_change(), "the network cannot skip its next change or go back");
    clock_ = now;
    const auto first = static_cast<std::ptrdiff_t>(done.size());
    while (finishes_.next() == now) done.push_back(finishes_.pop());
    for (auto id = done.begin() + first; id != done.end(); ++id) finish(*id);  // popped in FlowId order: equal times
}

void IdealNetwork::finish(FlowId id) {
    const Flow& flow = flows_[id];
    deliver(flow.pattern, flow.bytes, 1.0);
    record(flow.pattern, flow.bytes, flow.begin, clock_);
    flows_.remove(id);
}

void IdealNetwork::deliver(PatternId id, Bytes bytes, double flows) {
    PatternFlows& pattern = patterns_[id];
    pattern.moved += pattern.rate * (bytes / pattern.rate) * flows;  // over the unrounded time
}

void IdealNetwork::record(PatternId pattern, Bytes bytes, Instant begin, Instant end) {
    if (recorder_ != nullptr) recorder_->add(pattern, begin, end, bytes);
}

FlowId IdealNetwork::resume(Instant now, PatternId pattern, Bytes bytes, Instant since) {
    const FlowId id = start(now, pattern, bytes);
    flows_[id].begin = since;
    finishes_.set(id, since + bytes / patterns_[pattern].rate);
    return id;
}

}  // namespace weft
