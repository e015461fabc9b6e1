// Every flow as if it had the machine to itself: the alpha-beta model, without contention. Oracle and lower bound of
// FlowNetwork, with which it agrees wherever nothing is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/event/finish_queue.hpp"
#include "sim/network/flow_slots.hpp"
#include "sim/network/link_patterns.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/traffic_recorder.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class IdealNetwork {
  public:
    // Room for `flows` at a time; more are served, but only then is memory allocated while time runs.
    IdealNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows = 0);

    FlowId start(Instant now, PatternId pattern, Bytes bytes);
    Instant next_change() const { return finishes_.next(); }
    void advance(Instant now, std::vector<FlowId>& done);
    Bytes moved(PatternId pattern) const { return patterns_[pattern].moved; }
    const LinkPatterns& crossed() const { return crossed_; }
    std::uint64_t solves() const { return 0; }

    // Every flow always has room.
    bool reserve(PatternId) const { return true; }
    void release(PatternId) const {}
    void take_crowded_out(std::vector<PatternId>&) const {}
    BytesPerSecond lone_rate(PatternId pattern) const { return rate(pattern); }
    void deliver(PatternId pattern, Bytes bytes, double flows);
    bool is_recorded() const { return recorder_ != nullptr; }
    void record(PatternId pattern, Bytes bytes, Instant begin, Instant end);
    FlowId resume(Instant now, PatternId pattern, Bytes bytes, Instant since);

    // Of any flow on the pattern: the smaller of its cap and Pattern::alone, or without the latter, the smallest
    // bandwidth on the path.
    BytesPerSecond rate(PatternId pattern) const { return patterns_[pattern].rate; }
    // Reports all traffic from now on; `recorder` must outlive this.
    void record_to(TrafficRecorder& recorder) { recorder_ = &recorder; }

  private:
    struct Flow {
        PatternId pattern{};
        Instant begin;
        Bytes bytes{};
    };
    struct PatternFlows {
        BytesPerSecond rate{};
        Bytes moved{};  // by finished flows
    };

    void finish(FlowId id);

    LinkPatterns crossed_;
    Table<PatternId, PatternFlows> patterns_;
    FlowSlots<Flow> flows_;
    FinishQueue<FlowId> finishes_;
    Instant clock_;
    TrafficRecorder* recorder_ = nullptr;
};

static_assert(ForesightNetwork<IdealNetwork>);

}  // namespace weft
