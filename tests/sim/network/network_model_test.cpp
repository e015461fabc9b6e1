// A network model of one's own needs the six operations of NetworkModel and nothing else. This one stores and forwards:
// a message crosses one link of its pattern after the other, and a link sends one message at a time, in the order in
// which they were started.
#include "sim/network/network_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "sim/engine/breakdown.hpp"
#include "sim/engine/run.hpp"
#include "tests/sim/engine/toy_program.hpp"

namespace weft {
namespace {

using toy::path;
using toy::Script;

class StoreAndForward {
  public:
    StoreAndForward(const Topology& topology, const Table<PatternId, Pattern>& patterns)
        : topology_(topology), patterns_(patterns), crossed_(topology, patterns), moved_(patterns.size()) {}

    FlowId start(Instant now, PatternId pattern, Bytes bytes) {
        for (const LinkLoad& load : patterns_[pattern].loads) {
            Instant& free = free_[load.link];
            now = free = std::max(now, free) + bytes * load.load / topology_.link(load.link).bandwidth;
        }
        messages_[FlowId{started_}] = {pattern, bytes, now};
        return FlowId{started_++};
    }
    Instant next_change() const {
        Instant first = Instant::never();
        for (const auto& [id, message] : messages_) first = std::min(first, message.arrival);
        return first;
    }
    void advance(Instant now, std::vector<FlowId>& done) {
        for (auto it = messages_.begin(); it != messages_.end();) {
            if (it->second.arrival > now) {
                ++it;
                continue;
            }
            moved_[it->second.pattern] += it->second.bytes;
            done.push_back(it->first);
            it = messages_.erase(it);
        }
    }
    Bytes moved(PatternId pattern) const { return moved_[pattern]; }
    const LinkPatterns& crossed() const { return crossed_; }
    std::uint64_t solves() const { return 0; }

  private:
    struct Message {
        PatternId pattern{};
        Bytes bytes{};
        Instant arrival;
    };
    const Topology& topology_;
    const Table<PatternId, Pattern>& patterns_;
    LinkPatterns crossed_;
    Table<PatternId, Bytes> moved_;
    std::map<LinkId, Instant> free_;
    std::map<FlowId, Message> messages_;
    std::uint32_t started_ = 0;
};
static_assert(NetworkModel<StoreAndForward> && !ForesightNetwork<StoreAndForward>);

Instant at(double seconds) { return Instant{} + Seconds{seconds}; }

Timeline run_on_own(const Program& program, const Topology& topology) {
    StoreAndForward network(topology, program.patterns);
    return run(program, topology, network);
}

// Message i of those that set out together over l links of equal bandwidth arrives after (l + i) times what it takes on
// one of them, here 20 / 10 seconds.
TEST(network_model, one_that_stores_and_forwards_pipelines_messages) {
    constexpr std::uint32_t messages = 4;
    Script script;
    const PatternId way = script.builder.pattern(path({0, 1, 2}));
    std::vector<OpId> calls;
    for (std::uint32_t i = 0; i < messages; ++i) {
        script.begin("class");
        const OpId work = script.work({1});
        calls.push_back(script.take_part(script.exchange({way, {0.5}, {20}}), {work}));
    }
    const Timeline timeline = run_on_own(script.finish(), toy::fabric({10, 10, 10}));
    std::vector<double> arrivals;
    for (const OpId call : calls) arrivals.push_back(since_start(timeline.spans[call].end).value);
    std::ranges::sort(arrivals);
    for (std::uint32_t i = 0; i < messages; ++i) EXPECT_DOUBLE_EQ(arrivals[i], 1 + 0.5 + (3 + i) * 2.0);
    EXPECT_DOUBLE_EQ(timeline.utilization.rows().front(), messages * 2.0 / arrivals.back()) << "bytes over bandwidth";
    EXPECT_EQ(timeline.events, 3 * messages) << "work, latency, message";
}

// Without foresight nothing runs ahead: routines run op by op, and their breakdown is that of their ops.
TEST(network_model, one_without_foresight_runs_routines_beside_other_communication) {
    Script script;
    const PatternId way = script.builder.pattern(path({0, 1}));
    script.begin("class");
    const Op work{OpKind::compute, toy::compute_lane, script.builder.label("work"), script.builder.work({1})};
    const Op call{OpKind::exchange, toy::tensor_lane, work.label,
                  static_cast<std::uint32_t>(script.exchange({way, {}, {10}}))};
    const ProgramBuilder::RoutineUnit links[] = {{work, {}}, {call, work}, {work, {}}};
    const Op routine{OpKind::routine, toy::compute_lane, work.label,
                     static_cast<std::uint32_t>(script.builder.routine(links))};
    for (int i = 0; i < 3; ++i) script.builder.add(routine, {});
    script.take_part(script.exchange({way, {}, {30}}), {}, toy::data_lane);  // to 6, and holds the first call up
    const Program program = script.finish(), unfolded = unfold(program);
    const Topology topology = toy::fabric({10, 10});
    const Timeline timeline = run_on_own(program, topology);
    EXPECT_EQ(timeline.end, at(1 + 6 + 1 + 2 * (1 + 2 + 1)))
        << "the first call crosses the links from 3 to 4 and 6 to 7";
    const LaneId priority[] = {toy::data_lane};
    const auto parts = break_down(program, timeline, toy::compute_lane, priority);
    const auto single = break_down(unfolded, run_on_own(unfolded, topology), toy::compute_lane, priority);
    EXPECT_EQ(parts[RankClassId{}].idle, single[RankClassId{}].idle);
    EXPECT_EQ(parts[RankClassId{}].busy.value, 9.0);
}

}  // namespace
}  // namespace weft
