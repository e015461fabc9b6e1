// The networks of the engine: one on which flows share links max-min fairly, and one on which they never meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/event/finish_queue.hpp"
#include "sim/network/flow_slots.hpp"
#include "sim/network/link_patterns.hpp"
#include "sim/network/max_min.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/traffic_recorder.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// What both have: the flows under way, when each of them finishes, and who is told of their traffic.
template <class Flow>
class FlowsUnderWay {
  public:
    const LinkPatterns& crossed() const { return crossed_; }
    bool is_recorded() const { return recorder_ != nullptr; }
    void record(PatternId pattern, Bytes bytes, Instant begin, Instant end) {
        if (recorder_ != nullptr) recorder_->add(pattern, begin, end, bytes);
    }
    // Reports all traffic from now on; `recorder` must outlive this.
    void record_to(TrafficRecorder& recorder) { recorder_ = &recorder; }

  protected:
    FlowsUnderWay(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows)
        : crossed_(topology, patterns) {
        flows_.reserve(flows);
        finishes_.reserve(flows);
    }
    // Moves to `now` and appends the flows that finish there, in FlowId order: they are popped so, at equal times.
    template <class Finish>
    void finish_at(Instant now, Instant next_change, std::vector<FlowId>& done, Finish finish) {
        WEFT_CHECK(clock_ <= now && now <= next_change, "the network cannot skip its next change or go back");
        clock_ = now;
        const std::size_t first = done.size();
        while (finishes_.next() == now) done.push_back(finishes_.pop());
        for (std::size_t i = first; i < done.size(); ++i) finish(done[i]);
    }

    LinkPatterns crossed_;
    FlowSlots<Flow> flows_;
    FinishQueue<FlowId> finishes_;
    Instant clock_;
    TrafficRecorder* recorder_ = nullptr;
};

struct SharingFlow {
    PatternId pattern{};
    FlowId previous{}, next{};  // on the same pattern, in a ring
    Instant since;              // when `remaining` was true
    Bytes remaining{};
    Bytes moved{};  // the integral of its rate
};

// Flows that share links max-min fairly. Rates are solved once per distinct instant, for the part that changed; the
// progress of a flow is brought up to date only when its own rate changes.
class FlowNetwork : public FlowsUnderWay<SharingFlow> {
  public:
    // Room for `flows` at a time; more are served, but only then is memory allocated while time runs.
    FlowNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows = 0);

    FlowId start(Instant now, PatternId pattern, Bytes bytes);
    Instant next_change();
    void advance(Instant now, std::vector<FlowId>& done);
    Bytes moved(PatternId pattern) const { return patterns_[pattern].moved; }
    std::uint64_t solves() const { return solves_; }

    bool reserve(PatternId pattern);
    void release(PatternId pattern) { max_min_.release(pattern); }
    void take_crowded_out(std::vector<PatternId>& patterns) { max_min_.take_crowded_out(patterns); }
    BytesPerSecond lone_rate(PatternId pattern) const { return max_min_.lone_rate(pattern); }
    void deliver(PatternId pattern, Bytes bytes, double flows);
    FlowId resume(Instant now, PatternId pattern, Bytes bytes, Instant since);

    // Of a flow under way. Solves if rates are stale.
    BytesPerSecond rate(FlowId flow);

  private:
    struct PatternFlows {
        FlowId first{};
        std::uint32_t flows = 0;
        std::uint32_t solved_flows = 0;  // as of the last solve
        bool is_stale = false;           // listed in stale_
        BytesPerSecond rate{};           // of each flow, as of the last solve
        Bytes moved{};                   // by finished flows
    };

    void bring_flows_up_to_date(PatternId id);
    void solve_if_stale();
    void apply_rate(PatternId pattern);
    void schedule_new(PatternId pattern);
    void schedule(FlowId id);
    void settle(SharingFlow& flow);
    void finish(FlowId id);
    void link_up(FlowId id);
    void unlink(FlowId id);
    void mark_stale(PatternId pattern);

    MaxMin max_min_;
    Table<PatternId, PatternFlows> patterns_;
    std::vector<PatternId> stale_;  // patterns on which flows started or finished since the last solve
    bool has_changed_ = false;      // the number of flows on a pattern, since then
    std::uint64_t solves_ = 0;
};

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
    IdealNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows = 0);

    FlowId start(Instant now, PatternId pattern, Bytes bytes);
    Instant next_change() const { return finishes_.next(); }
    void advance(Instant now, std::vector<FlowId>& done);
    Bytes moved(PatternId pattern) const { return patterns_[pattern].moved; }
    std::uint64_t solves() const { return 0; }

    // Every flow always has room.
    bool reserve(PatternId) const { return true; }
    void release(PatternId) const {}
    void take_crowded_out(std::vector<PatternId>&) const {}
    BytesPerSecond lone_rate(PatternId pattern) const { return rate(pattern); }
    void deliver(PatternId pattern, Bytes bytes, double flows);
    FlowId resume(Instant now, PatternId pattern, Bytes bytes, Instant since);

    // Of any flow on the pattern: the smaller of its cap and Pattern::alone, or without the latter, the smallest
    // bandwidth on the path.
    BytesPerSecond rate(PatternId pattern) const { return patterns_[pattern].rate; }

  private:
    struct PatternFlows {
        BytesPerSecond rate{};
        Bytes moved{};  // by finished flows
    };
    Table<PatternId, PatternFlows> patterns_;
};

static_assert(ForesightNetwork<FlowNetwork> && ForesightNetwork<IdealNetwork>);

}  // namespace weft
