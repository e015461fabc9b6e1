#include "workloads/recorded/replay.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "sim/engine/delay_queue.hpp"
#include "sim/engine/link_sums.hpp"
#include "sim/network/flow_network.hpp"
#include "workloads/recorded/reading.hpp"

namespace weft {
namespace {

template <NetworkModel N>
class Replayer {
  public:
    Replayer(const RecordedProgram& program, const Meetings& meetings, const RecordedCosts& costs, N& network,
             bool takes_time)
        : program_(program),
          meetings_(meetings),
          costs_(costs),
          network_(network),
          takes_time_(takes_time),
          successors_(program, meetings),
          waits_(counts_of_dependencies(program)),
          clocks_(program.ranks.size()),
          under_way_(meetings.meetings.size()) {
        const std::size_t nodes = meetings.of_node.size();
        run_.begin.assign(nodes, Instant::never());
        run_.end.assign(nodes, Instant::never());
        run_.cause.assign(nodes, {NodeCause::nobody, 0});
        for (const RecordedRank& rank : program.ranks) {
            first_unit_.push_back(static_cast<std::uint32_t>(units_.size()));
            units_.resize(units_.size() + rank.units.size());
        }
        for (std::size_t i = 0; i < meetings.meetings.size(); ++i) under_way_[i].missing = meetings.meetings[i].parties;
    }

    RecordedRun run() && {
        for (std::uint32_t at = 0; at < waits_.size(); ++at) {
            if (waits_[at] == 0) ready_.push(at);
        }
        begin_ready();
        for (std::vector<FlowId> finished;;) {
            while (events_.next() == now_) handle(events_.pop());
            const Instant then = std::min(events_.next(), network_.next_change());
            if (then == Instant::never()) break;
            now_ = then;
            network_.advance(now_, finished);
            handle_finished(finished);
        }
        for (ActivityClock& clock : clocks_) run_.ranks.push_back(clock.times(now_));
        run_.over = now_;
        run_.solves = network_.solves();
        for (PatternId id{}; id != costs_.patterns.end_id(); id = next(id)) run_.moved.push_back(network_.moved(id));
        return std::move(run_);
    }

  private:
    enum class EventKind : std::uint8_t { computed, latency_over, arrived };
    struct Event {
        std::uint32_t subject = 0;  // node, or meeting
        EventKind kind{};
    };
    struct MeetingState {
        std::uint32_t missing = 0;                   // parties that have not come; of a message without its receiver
        std::uint32_t stretch = 0;                   // of its call, the one under way
        bool has_left = false, has_arrived = false;  // of a message
    };
    // Computes one node at a time.
    struct Unit {
        bool is_busy = false;
        std::queue<std::uint32_t> waiting;
    };

    const RecordedNode& node(std::uint32_t at, std::uint32_t rank) const {
        return program_.ranks[rank].nodes[at - meetings_.first_node[rank]];
    }
    const RecordedCall& call_of(std::uint32_t meeting) const { return costs_.calls[costs_.call_of[meeting]]; }
    std::span<const std::uint32_t> parties(std::uint32_t meeting) const {
        return meetings_.of(meetings_.meetings[meeting]);
    }
    void schedule(std::int64_t ticks, EventKind kind, std::uint32_t subject) {
        events_.push(now_, ticks, {subject, kind});
    }

    void handle(const Event& event) {
        ++run_.events;
        if (event.kind == EventKind::computed) computed(event.subject);
        if (event.kind == EventKind::latency_over) move_bytes(event.subject);
        if (event.kind == EventKind::arrived) arrive(event.subject);
        begin_ready();
    }

    // All are looked up before any goes on, because a flow that starts next may be given the id of one.
    void handle_finished(std::vector<FlowId>& finished) {
        run_.events += finished.size();
        moved_on_.clear();
        for (const FlowId flow : finished) moved_on_.push_back(meeting_of_flow_[flow]);
        finished.clear();
        for (const std::uint32_t meeting : moved_on_) next_stretch(meeting);
        begin_ready();
    }

    void begin_ready() {
        for (; !ready_.empty(); ready_.pop()) begin(ready_.front());
    }

    void begin(std::uint32_t at) {
        const std::uint32_t rank = meetings_.rank_of(at);
        const RecordedNode& what = node(at, rank);
        if (what.kind == RecordedKind::compute) {
            Unit& unit = units_[first_unit_[rank] + what.unit];
            if (unit.is_busy) return unit.waiting.push(at);
            unit.is_busy = true;
            return compute(at, rank, what);
        }
        begun(at);
        if (what.kind == RecordedKind::nothing) complete(at);
        if (what.kind == RecordedKind::collective) come(meetings_.of_node[at], rank);
        if (what.kind == RecordedKind::send) leave(meetings_.of_node[at], rank);
        if (what.kind == RecordedKind::receive) receive(meetings_.of_node[at], at, rank);
    }

    void begun(std::uint32_t at) {
        run_.begin[at] = now_;
        release(at, true);
    }

    void complete(std::uint32_t at) {
        run_.end[at] = now_;
        release(at, false);
    }

    void release(std::uint32_t at, bool on_begin) {
        for (const NodeDependency& next : successors_.of(at)) {
            if ((next.on_begin != 0) != on_begin || --waits_[next.node] > 0) continue;
            run_.cause[next.node] = {at & NodeCause::nobody, on_begin ? 1U : 0U};
            ready_.push(next.node);
        }
    }

    // Computation.
    void compute(std::uint32_t at, std::uint32_t rank, const RecordedNode& what) {
        clocks_[rank].begin(activity_of(rank, what), now_);
        schedule(ticks(what.time), EventKind::computed, at);
        begun(at);
    }

    RankActivity activity_of(std::uint32_t rank, const RecordedNode& what) const {
        return program_.ranks[rank].units[what.unit].is_host ? RankActivity::on_host : RankActivity::computing;
    }

    void computed(std::uint32_t at) {
        const std::uint32_t rank = meetings_.rank_of(at);
        const RecordedNode& what = node(at, rank);
        clocks_[rank].end(activity_of(rank, what), now_);
        complete(at);
        Unit& unit = units_[first_unit_[rank] + what.unit];
        unit.is_busy = !unit.waiting.empty();
        if (!unit.is_busy) return;
        const std::uint32_t next = unit.waiting.front();
        unit.waiting.pop();
        run_.cause[next] = {at & NodeCause::nobody, 0};
        compute(next, rank, node(next, rank));
    }

    // Collectives.
    void come(std::uint32_t meeting, std::uint32_t rank) {
        clocks_[rank].begin(RankActivity::waiting, now_);
        if (--under_way_[meeting].missing > 0) return;
        for (const std::uint32_t at : parties(meeting)) turn(at, RankActivity::waiting, RankActivity::communicating);
        take_stretch(meeting);
    }

    void turn(std::uint32_t at, RankActivity from, RankActivity to) {
        ActivityClock& clock = clocks_[meetings_.rank_of(at)];
        clock.begin(to, now_);
        clock.end(from, now_);
    }

    // Messages.
    void leave(std::uint32_t meeting, std::uint32_t rank) {
        MeetingState& state = under_way_[meeting];
        state.has_left = true;
        clocks_[rank].begin(RankActivity::communicating, now_);
        const std::uint32_t receiver = parties(meeting)[1];
        if (run_.begin[receiver] != Instant::never()) {
            turn(receiver, RankActivity::waiting, RankActivity::communicating);
        }
        take_stretch(meeting);
    }

    void receive(std::uint32_t meeting, std::uint32_t at, std::uint32_t rank) {
        const MeetingState& state = under_way_[meeting];
        if (state.has_arrived) return complete(at);
        clocks_[rank].begin(state.has_left ? RankActivity::communicating : RankActivity::waiting, now_);
    }

    void arrive(std::uint32_t meeting) {
        under_way_[meeting].has_arrived = true;
        const std::uint32_t receiver = parties(meeting)[1];
        if (run_.begin[receiver] != Instant::never()) communicated(receiver);
    }

    void communicated(std::uint32_t at) {
        clocks_[meetings_.rank_of(at)].end(RankActivity::communicating, now_);
        complete(at);
    }

    // What both go through: stretches of latency, then bytes.
    void take_stretch(std::uint32_t meeting) {
        const RecordedCall& call = call_of(meeting);
        const std::uint32_t stretch = under_way_[meeting].stretch;
        if (!takes_time_ || stretch == call.stretches) return through(meeting, call);
        const std::int64_t latency = costs_.stretches[call.first + stretch].ticks;
        if (latency > 0) return schedule(latency, EventKind::latency_over, meeting);
        move_bytes(meeting);
    }

    void move_bytes(std::uint32_t meeting) {
        const CallStretch& stretch = costs_.stretches[call_of(meeting).first + under_way_[meeting].stretch];
        if (stretch.bytes == Bytes{} || is_unlimited(costs_.patterns[stretch.pattern])) return next_stretch(meeting);
        const FlowId flow = network_.start(now_, stretch.pattern, stretch.bytes);
        while (index(flow) >= meeting_of_flow_.size()) meeting_of_flow_.push_back(0);
        meeting_of_flow_[flow] = meeting;
    }

    void next_stretch(std::uint32_t meeting) {
        ++under_way_[meeting].stretch;
        take_stretch(meeting);
    }

    void through(std::uint32_t meeting, const RecordedCall& call) {
        const bool is_message = call.op == Collective::point_to_point;
        const std::span<const std::uint32_t> all = parties(meeting);
        for (const std::uint32_t at : is_message ? all.first(1) : all) communicated(at);  // of a message, its sender
        if (!is_message) return;
        if (takes_time_ && call.flight > 0) return schedule(call.flight, EventKind::arrived, meeting);
        arrive(meeting);
    }

    const RecordedProgram& program_;
    const Meetings& meetings_;
    const RecordedCosts& costs_;
    N& network_;
    const bool takes_time_;
    const Successors successors_;
    std::vector<std::uint32_t> waits_;  // of each node: dependencies that are not over
    std::queue<std::uint32_t> ready_;
    std::vector<std::uint32_t> first_unit_;  // by rank
    std::vector<Unit> units_;
    std::vector<ActivityClock> clocks_;  // by rank
    std::vector<MeetingState> under_way_;
    DelayQueue<Event> events_;
    Table<FlowId, std::uint32_t> meeting_of_flow_;
    std::vector<std::uint32_t> moved_on_;
    Instant now_;
    RecordedRun run_;
};

// Refuses, of each rank, the first node that waits for ever.
void check_ended(const RecordedProgram& program, const Meetings& meetings, const RecordedRun& run) {
    RecordedMistakes stuck;
    for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) {
        for (std::uint32_t at = meetings.first_node[rank]; at < meetings.first_node[rank + 1]; ++at) {
            if (run.begin[at] == Instant::never() || run.end[at] != Instant::never()) continue;
            stuck.add(program.ranks[rank], program.ranks[rank].nodes[at - meetings.first_node[rank]],
                      "waits for ever: the ranks that it meets wait for others in a circle");
            break;
        }
    }
    stuck.check();
}

template <NetworkModel N>
RecordedRun replay_on(const RecordedProgram& program, const Meetings& meetings, const RecordedCosts& costs,
                      const Topology& topology, bool takes_time) {
    N network(topology, costs.patterns);
    RecordedRun run = Replayer<N>(program, meetings, costs, network, takes_time).run();
    check_ended(program, meetings, run);
    Timeline sums;
    sums.end = run.over;
    sum_up_links(topology, network, sums);
    run.utilization.assign(sums.utilization.begin(), sums.utilization.end());
    run.peak_utilization.assign(sums.peak_utilization.begin(), sums.peak_utilization.end());
    return run;
}

}  // namespace

RecordedRun replay(const RecordedProgram& program, const Meetings& meetings, const RecordedCosts& costs,
                   const Topology& topology, NetworkKind network) {
    const bool takes_time = network != NetworkKind::free;
    return network == NetworkKind::flow ? replay_on<FlowNetwork>(program, meetings, costs, topology, takes_time)
                                        : replay_on<IdealNetwork>(program, meetings, costs, topology, takes_time);
}

}  // namespace weft
