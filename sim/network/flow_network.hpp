// Flows that share links max-min fairly. Rates are solved once per distinct instant, for the part that changed; the
// progress of a flow is brought up to date only when its own rate changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/event/finish_queue.hpp"
#include "sim/network/flow_slots.hpp"
#include "sim/network/link_patterns.hpp"
#include "sim/network/max_min.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/traffic_recorder.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class FlowNetwork {
  public:
    // Room for `flows` at a time; more are served, but only then is memory allocated while time runs.
    FlowNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows = 0);

    FlowId start(Instant now, PatternId pattern, Bytes bytes);
    Instant next_change();
    void advance(Instant now, std::vector<FlowId>& done);
    Bytes moved(PatternId pattern) const { return patterns_[pattern].moved; }
    const LinkPatterns& crossed() const { return crossed_; }
    std::uint64_t solves() const { return solves_; }

    bool reserve(PatternId pattern);
    void release(PatternId pattern) { max_min_.release(pattern); }
    void take_crowded_out(std::vector<PatternId>& patterns) { max_min_.take_crowded_out(patterns); }
    BytesPerSecond lone_rate(PatternId pattern) const { return max_min_.lone_rate(pattern); }
    void deliver(PatternId pattern, Bytes bytes, double flows);
    bool is_recorded() const { return recorder_ != nullptr; }
    void record(PatternId pattern, Bytes bytes, Instant begin, Instant end);
    FlowId resume(Instant now, PatternId pattern, Bytes bytes, Instant since);

    // Of a flow under way. Solves if rates are stale.
    BytesPerSecond rate(FlowId flow);
    // Reports all traffic from now on; `recorder` must outlive this.
    void record_to(TrafficRecorder& recorder) { recorder_ = &recorder; }

  private:
    struct Flow {
        PatternId pattern{};
        FlowId previous{}, next{};  // on the same pattern, in a ring
        Instant since;              // when `remaining` was true
        Bytes remaining{};
        Bytes moved{};  // the integral of its rate
    };
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
    void settle(Flow& flow);
    void finish(FlowId id);
    void link_up(FlowId id);
    void unlink(FlowId id);
    void mark_stale(PatternId pattern);

    LinkPatterns crossed_;
    MaxMin max_min_;
    Table<PatternId, PatternFlows> patterns_;
    FlowSlots<Flow> flows_;
    FinishQueue<FlowId> finishes_;
    std::vector<PatternId> stale_;  // patterns on which flows started or finished since the last solve
    bool has_changed_ = false;      // the number of flows on a pattern, since then
    Instant clock_;
    std::uint64_t solves_ = 0;
    TrafficRecorder* recorder_ = nullptr;
};

static_assert(ForesightNetwork<FlowNetwork>);

}  // namespace weft
