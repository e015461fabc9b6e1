// A network on which flows share links max-min fairly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/event/finish_queue.hpp"
#include "sim/network/constraints.hpp"
#include "sim/network/flow_slots.hpp"
#include "sim/network/link_patterns.hpp"
#include "sim/network/max_min.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/traffic_recorder.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// What networks of flows have: the flows under way, when each of them finishes, and who is told of their traffic.
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
    FlowNetwork(const Topology& topology, const Table<PatternId, Pattern>& patterns, std::size_t flows = 0)
        : FlowsUnderWay(topology, patterns, flows),
          max_min_(drop_implied(find_constraints(topology, crossed_), patterns.size()), patterns),
          patterns_(patterns.size()) {
        stale_.reserve(patterns.size());
    }

    FlowId start(Instant now, PatternId pattern, Bytes bytes) {
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

    Instant next_change() {
        solve_if_stale();
        return finishes_.next();
    }
    void advance(Instant now, std::vector<FlowId>& done) {
        finish_at(now, next_change(), done, [this](FlowId id) { finish(id); });
    }
    Bytes moved(PatternId pattern) const { return patterns_[pattern].moved; }
    std::uint64_t solves() const { return solves_; }

    // The pattern's last flow may have finished at this very instant.
    bool reserve(PatternId pattern) {
        if (patterns_[pattern].flows > 0) return false;
        bring_flows_up_to_date(pattern);
        return max_min_.reserve(pattern);
    }
    void release(PatternId pattern) { max_min_.release(pattern); }
    void take_crowded_out(std::vector<PatternId>& patterns) { max_min_.take_crowded_out(patterns); }
    BytesPerSecond lone_rate(PatternId pattern) const { return max_min_.lone_rate(pattern); }
    void deliver(PatternId pattern, Bytes bytes, double flows) {
        const BytesPerSecond rate = lone_rate(pattern);
        patterns_[pattern].moved += rate * (bytes / rate) * flows;  // over the unrounded time
    }

    FlowId resume(Instant now, PatternId pattern, Bytes bytes, Instant since) {
        WEFT_CHECK(since <= now, "a flow that goes on has begun");
        patterns_[pattern].rate = lone_rate(pattern);  // which it has had so far; others come to its pattern only now
        const FlowId id = start(now, pattern, bytes);
        flows_[id].since = since;
        return id;
    }

    // Of a flow under way. Solves if rates are stale.
    BytesPerSecond rate(FlowId flow) {
        solve_if_stale();
        return patterns_[flows_[flow].pattern].rate;
    }

  private:
    struct PatternFlows {
        FlowId first{};
        std::uint32_t flows = 0;
        std::uint32_t solved_flows = 0;  // as of the last solve
        bool is_stale = false;           // listed in stale_
        BytesPerSecond rate{};           // of each flow, as of the last solve
        Bytes moved{};                   // by finished flows
    };

    void bring_flows_up_to_date(PatternId id) {
        PatternFlows& pattern = patterns_[id];
        if (pattern.flows == pattern.solved_flows) return;
        pattern.solved_flows = pattern.flows;
        max_min_.set_flows(id, pattern.flows);
        has_changed_ = true;
    }

    // A pattern on which one flow followed another at the same instant is as it was: only the new flow needs an end.
    // Where one that had room has to go, it goes first: rates that no time passes at would only be rounded.
    void solve_if_stale() {
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

    void apply_rate(PatternId id) {
        PatternFlows& pattern = patterns_[id];
        const BytesPerSecond rate = max_min_.rate(id);
        if (rate == pattern.rate) return;
        FlowId flow = pattern.first;
        for (std::uint32_t i = 0; i < pattern.flows; ++i, flow = flows_[flow].next) settle(flows_[flow]);
        pattern.rate = rate;
        for (std::uint32_t i = 0; i < pattern.flows; ++i, flow = flows_[flow].next) schedule(flow);
    }

    void schedule_new(PatternId id) {
        FlowId flow = patterns_[id].first;
        for (std::uint32_t i = 0; i < patterns_[id].flows; ++i, flow = flows_[flow].next) {
            if (!finishes_.contains(flow)) schedule(flow);
        }
    }
    void schedule(FlowId id) {
        const SharingFlow& flow = flows_[id];
        finishes_.set(id, flow.since + flow.remaining / patterns_[flow.pattern].rate);
    }

    // Brings a flow up to the present at the rate it has had since.
    void settle(SharingFlow& flow) {
        if (flow.since == clock_) return;
        const Bytes moved = std::min(flow.remaining, patterns_[flow.pattern].rate * (clock_ - flow.since));
        record(flow.pattern, moved, flow.since, clock_);
        flow.moved += moved;
        flow.remaining -= moved;
        flow.since = clock_;
    }

    // The clock rounds the end of a flow to a tick. Its bytes are integrated over the unrounded time, which may differ
    // from the rounded one by no more than that.
    void finish(FlowId id) {
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

    void link_up(FlowId id) {
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

    void unlink(FlowId id) {
        const SharingFlow& flow = flows_[id];
        PatternFlows& pattern = patterns_[flow.pattern];
        --pattern.flows;
        if (pattern.first == id) pattern.first = flow.next;
        flows_[flow.previous].next = flow.next;
        flows_[flow.next].previous = flow.previous;
        mark_stale(flow.pattern);
    }

    void mark_stale(PatternId pattern) {
        if (!std::exchange(patterns_[pattern].is_stale, true)) stale_.push_back(pattern);
    }

    MaxMin max_min_;
    Table<PatternId, PatternFlows> patterns_;
    std::vector<PatternId> stale_;  // patterns on which flows started or finished since the last solve
    bool has_changed_ = false;      // the number of flows on a pattern, since then
    std::uint64_t solves_ = 0;
};

static_assert(ForesightNetwork<FlowNetwork>);

}  // namespace weft
