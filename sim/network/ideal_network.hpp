// A network on which flows never meet.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/network/flow_network.hpp"

namespace weft {

struct LoneFlow {
    PatternId pattern{};
    Instant begin;
    Bytes bytes{};
};

// Every flow as if it had the machine to itself: the alpha-beta model, without contention. Oracle and lower bound of
// FlowNetwork, with which it agrees wherever nothing is shared.
class IdealNetwork : public FlowsUnderWay<LoneFlow> {
  public:
    // Room for `flows` at a time, as FlowNetwork.
    IdealNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows = 0)
        : FlowsUnderWay(topology, patterns, flows), patterns_(patterns.size()) {
        for (PatternId id{}; id != patterns.end_id(); id = next(id)) {
            patterns_[id].rate = rate_alone(topology, patterns[id]);
        }
    }

    FlowId start(Instant now, PatternId pattern, Bytes bytes) {
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

    Instant next_change() const { return finishes_.next(); }

    void advance(Instant now, std::vector<FlowId>& done) {
        finish_at(now, next_change(), done, [this](FlowId id) {
            const LoneFlow& flow = flows_[id];
            deliver(flow.pattern, flow.bytes, 1.0);
            record(flow.pattern, flow.bytes, flow.begin, clock_);
            flows_.remove(id);
        });
    }

    Bytes moved(PatternId pattern) const { return patterns_[pattern].moved; }
    std::uint64_t solves() const { return 0; }

    // Every flow always has room.
    bool reserve(PatternId) const { return true; }
    void release(PatternId) const {}
    void take_crowded_out(std::vector<PatternId>&) const {}
    BytesPerSecond lone_rate(PatternId pattern) const { return rate(pattern); }
    void deliver(PatternId id, Bytes bytes, double flows) {
        PatternFlows& pattern = patterns_[id];
        pattern.moved += pattern.rate * (bytes / pattern.rate) * flows;  // over the unrounded time
    }
    FlowId resume(Instant now, PatternId pattern, Bytes bytes, Instant since) {
        const FlowId id = start(now, pattern, bytes);
        flows_[id].begin = since;
        finishes_.set(id, since + bytes / patterns_[pattern].rate);
        return id;
    }

    // Of any flow on the pattern: the smaller of its cap and Pattern::alone, or without the latter, the smallest
    // bandwidth on the path.
    BytesPerSecond rate(PatternId pattern) const { return patterns_[pattern].rate; }

  private:
    static BytesPerSecond rate_alone(const Topology& topology, const Pattern& pattern) {
        if (std::isfinite(pattern.alone.value)) return std::min(pattern.cap, pattern.alone);
        BytesPerSecond rate = pattern.cap;
        for (const LinkLoad& load : pattern.loads) rate = std::min(rate, topology.link(load.link).bandwidth);
        return rate;
    }

    struct PatternFlows {
        BytesPerSecond rate{};
        Bytes moved{};  // by finished flows
    };
    Table<PatternId, PatternFlows> patterns_;
};

static_assert(ForesightNetwork<IdealNetwork>);

}  // namespace weft
