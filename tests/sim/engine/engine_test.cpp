#include "sim/engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/base/check.hpp"
#include "sim/engine/run.hpp"
#include "sim/network/flow_network.hpp"
#include "tests/sim/engine/toy_program.hpp"

namespace weft {
namespace {

using toy::compute_lane;
using toy::data_lane;
using toy::path;
using toy::Script;
using toy::tensor_lane;

Instant at(double seconds) { return Instant{} + Seconds{seconds}; }

struct Times {
    double posted, begin, end;
    bool operator==(const Times&) const = default;
};
void PrintTo(const Times& t, std::ostream* out) { *out << t.posted << ", " << t.begin << ", " << t.end; }

Times times(const Timeline& timeline, OpId op) {
    const Span& span = timeline.spans[op];
    return {since_start(span.posted).value, since_start(span.begin).value, since_start(span.end).value};
}

Timeline simulate_flow(const Program& program, const std::vector<double>& bandwidths = {}) {
    return simulate(program, toy::fabric(bandwidths), NetworkKind::flow);
}

TEST(engine, an_empty_program_takes_no_time) {
    const Timeline timeline = simulate_flow(Script().finish(), {10});
    EXPECT_EQ(timeline.end, Instant{});
    EXPECT_EQ(timeline.events, 0U);
    EXPECT_EQ(timeline.utilization[LinkClassId{0}], 0.0);
}

TEST(engine, ops_of_a_lane_run_one_after_another) {
    Script script;
    script.begin("all");
    const OpId a = script.work({1}), b = script.work({2}), c = script.work({3});
    const Timeline timeline = simulate_flow(script.finish());
    EXPECT_EQ(times(timeline, a), (Times{0, 0, 1}));
    EXPECT_EQ(times(timeline, b), (Times{1, 1, 3}));
    EXPECT_EQ(times(timeline, c), (Times{3, 3, 6}));
    EXPECT_EQ(timeline.end, at(6));
    EXPECT_EQ(timeline.events, 3U);
}

TEST(engine, a_join_waits_for_the_longest_branch_of_a_fork) {
    Script script;
    script.begin("all");
    const OpId fork = script.work({1});
    const OpId slow = script.work({5}, {fork}, tensor_lane), fast = script.work({2}, {fork}, data_lane);
    const OpId join = script.join({slow, fast});
    const Timeline timeline = simulate_flow(script.finish());
    EXPECT_EQ(times(timeline, fast), (Times{1, 1, 3}));
    EXPECT_EQ(times(timeline, join), (Times{6, 6, 6}));
}

TEST(engine, work_of_no_duration_happens_at_once) {
    Script script;
    script.begin("all");
    script.work({0});
    const OpId last = script.work({0});
    EXPECT_EQ(times(simulate_flow(script.finish()), last), (Times{0, 0, 0}));
}

TEST(engine, a_chain_of_a_million_joins_is_no_deeper_than_one) {
    Script script;
    script.begin("all");
    OpId last = script.work({1});
    for (int i = 0; i < 1'000'000; ++i) last = script.join({last});
    EXPECT_EQ(times(simulate_flow(script.finish()), last), (Times{1, 1, 1}));
}

TEST(engine, an_exchange_begins_when_its_last_member_arrives_and_ends_for_all) {
    Script script;
    const PatternId pattern = script.builder.pattern(path({0}));
    const ExchangeId exchange = script.exchange({pattern, {0.5}, {20}}, 3);
    std::vector<OpId> parties;
    for (const double ready : {1.0, 4.0, 2.0}) {
        script.begin("class");
        parties.push_back(script.take_part(exchange, {script.work({ready})}));
    }
    // The last arrives at 4 s; 0.5 s latency; 20 bytes at 10 B/s.
    const Timeline timeline = simulate_flow(script.finish(), {10});
    EXPECT_EQ(times(timeline, parties[0]), (Times{1, 4, 6.5}));
    EXPECT_EQ(times(timeline, parties[1]), (Times{4, 4, 6.5}));
    EXPECT_EQ(times(timeline, parties[2]), (Times{2, 4, 6.5}));
}

TEST(engine, legs_run_in_order_and_any_of_them_may_lack_latency_or_bytes) {
    Script script;
    const PatternId first = script.builder.pattern(path({0})), second = script.builder.pattern(path({1}));
    script.begin("all");
    const OpId op = script.take_part(script.exchange({{first, {1}, {20}},       // 1 + 20 / 10
                                                      {second, {0}, {20}},      // 20 / 5
                                                      {first, {0.25}, {0}},     // 0.25
                                                      {first, {0}, {0}},        // nothing
                                                      {second, {0.5}, {5}}}));  // 0.5 + 5 / 5
    EXPECT_EQ(times(simulate_flow(script.finish(), {10, 5}), op), (Times{0, 0, 3 + 4 + 0.25 + 1.5}));
}

TEST(engine, bytes_that_nothing_limits_take_only_their_latency) {
    for (const NetworkKind kind : {NetworkKind::flow, NetworkKind::ideal}) {
        Script script;
        script.begin("all");
        const OpId op = script.take_part(script.exchange({script.builder.pattern({}), {2}, {1e12}}));
        EXPECT_EQ(times(simulate(script.finish(), toy::fabric({}), kind), op), (Times{0, 0, 2}));
    }
}

TEST(engine, an_exchange_without_legs_only_synchronises) {
    Script script;
    const ExchangeId barrier = script.exchange(std::vector<Leg>{}, 2);
    script.begin("slow");
    script.take_part(barrier, {script.work({3})});
    script.begin("fast");
    const OpId op = script.take_part(barrier);
    EXPECT_EQ(times(simulate_flow(script.finish()), op), (Times{0, 3, 3}));
}

TEST(engine, concurrent_exchanges_share_a_link_on_the_flow_network_only) {
    for (const auto& [kind, seconds] : {std::pair{NetworkKind::flow, 4.0}, std::pair{NetworkKind::ideal, 2.0}}) {
        Script script;
        const PatternId pattern = script.builder.pattern(path({0}));
        script.begin("all");
        script.take_part(script.exchange({pattern, {}, {20}}), {}, tensor_lane);
        script.take_part(script.exchange({pattern, {}, {20}}), {}, data_lane);
        EXPECT_EQ(simulate(script.finish(), toy::fabric({10}), kind).end, at(seconds));
    }
}

TEST(engine, what_starts_and_ends_together_is_solved_together) {
    Script script;
    for (std::uint32_t i = 0; i < 8; ++i) {
        script.begin("class");
        script.take_part(script.exchange({script.builder.pattern(path({i, 8})), {1}, {20}}));
    }
    // Once when all eight start, once when all have ended.
    EXPECT_EQ(simulate_flow(script.finish(), std::vector<double>(9, 10.0)).solves, 2U);
}

// A network gives the ids of finished flows to the next ones, even within the instant.
TEST(engine, flows_that_end_together_hand_over_to_the_legs_of_their_own_exchanges) {
    Script script;
    std::vector<OpId> ops;
    for (std::uint32_t i = 0; i < 3; ++i) {
        const PatternId pattern = script.builder.pattern(path({i}));
        script.begin("class");
        ops.push_back(script.take_part(script.exchange({{pattern, {}, {10}}, {pattern, {}, {10.0 * (i + 1)}}})));
    }
    const Timeline timeline = simulate_flow(script.finish(), {10, 10, 10});
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(times(timeline, ops[i]), (Times{0, 0, 2.0 + i}));
}

TEST(engine, a_free_network_takes_no_time_but_still_synchronises) {
    Script script;
    const ExchangeId exchange = script.exchange({script.builder.pattern(path({0})), {5}, {1e6}}, 2);
    script.begin("slow");
    script.take_part(exchange, {script.work({3})});
    script.begin("fast");
    const OpId op = script.take_part(exchange, {script.work({1})});
    const Timeline timeline = simulate(script.finish(), toy::fabric({10}), NetworkKind::free);
    EXPECT_EQ(times(timeline, op), (Times{1, 3, 3}));
    EXPECT_EQ(timeline.utilization[LinkClassId{0}], 0.0);
}

TEST(engine, utilization_is_the_mean_over_a_class_and_its_peak_the_busiest_link) {
    Script script;
    script.begin("all");
    // Links 0 and 1 are one class; link 0 carries 40 bytes of a possible 80 in the 8 s that the work takes.
    script.take_part(script.exchange({script.builder.pattern(path({0, 2})), {}, {40}}));
    script.work({8});
    const Timeline timeline = simulate_flow(script.finish(), {10, 10, 20});
    EXPECT_DOUBLE_EQ(timeline.utilization[LinkClassId{0}], 0.25);
    EXPECT_DOUBLE_EQ(timeline.peak_utilization[LinkClassId{0}], 0.5);
    EXPECT_DOUBLE_EQ(timeline.utilization[LinkClassId{1}], 0.25);
    EXPECT_TRUE(timeline.samples.empty());
}

TEST(engine, recorded_links_show_when_they_were_busy) {
    for (const NetworkKind kind : {NetworkKind::flow, NetworkKind::ideal}) {
        Script script;
        script.begin("all");
        script.take_part(script.exchange({script.builder.pattern(path({0})), {4}, {40}}));
        const auto timeline = simulate(script.finish(), toy::fabric({10}), kind, Recording::spans_and_links);
        double busy = 0.0;
        for (std::size_t i = 0; i + 1 < timeline.samples.size(); ++i) {
            const UtilizationSample& sample = timeline.samples[i];
            busy += static_cast<double>(sample.mean) * (timeline.samples[i + 1].at - sample.at).value;
            EXPECT_TRUE(sample.mean == 0.0F || timeline.samples[i + 1].at > at(3.99)) << "busy during the latency";
        }
        EXPECT_NEAR(busy, 4.0, 1e-4);
    }
}

TEST(engine, work_past_the_end_of_the_clock_is_refused) {
    Script script;
    script.begin("all");
    script.work({9000});
    script.work({9000});
    EXPECT_THROW(simulate_flow(script.finish()), RangeError);
}

// Loses one byte in ten thousand.
struct LossyNetwork : IdealNetwork {
    using IdealNetwork::IdealNetwork;
    Bytes moved(PatternId pattern) const { return IdealNetwork::moved(pattern) * 0.9999; }
};

TEST(engine, a_network_that_loses_bytes_is_found_out) {
    Script script;
    script.begin("all");
    script.take_part(script.exchange({script.builder.pattern(path({0})), {}, {1e6}}));
    const Program program = script.finish();
    const Topology topology = toy::fabric({1e6});
    LossyNetwork lossy(topology, program.patterns);
    EXPECT_THROW(run(program, topology, lossy), LogicError);
    IdealNetwork honest(topology, program.patterns);
    EXPECT_EQ(run(program, topology, honest).end, at(1));
}

// Ring all-reduce on a crossbar (Patarasuk & Yuan 2009): 2 (n-1) rounds of S/n bytes per member.
class ring_all_reduce : public testing::TestWithParam<std::tuple<std::uint32_t, double, NetworkKind>> {};

TEST_P(ring_all_reduce, takes_what_the_closed_form_says) {
    const auto [n, bytes, kind] = GetParam();
    constexpr double bandwidth = 25e9, latency = 1.7e-6;
    std::vector<std::uint32_t> hops(n);
    for (std::uint32_t i = 0; i < n; ++i) hops[i] = i;
    Script script;
    const PatternId ring = script.builder.pattern(path(hops));
    const Leg rounds{ring, {(n - 1) * latency}, {(n - 1) * bytes / n}};
    script.begin("all", n);
    script.take_part(script.exchange({rounds, rounds}));
    const Timeline timeline = simulate(script.finish(), toy::fabric(std::vector<double>(n, bandwidth)), kind);
    const double expected = 2.0 * (n - 1) / n * bytes / bandwidth + 2.0 * (n - 1) * latency;
    EXPECT_NEAR(since_start(timeline.end).value, expected, 1e-9 * expected);
    const double carried = 2.0 * (n - 1) / n * bytes;
    EXPECT_NEAR(timeline.utilization[LinkClassId{0}], carried / (bandwidth * expected), 1e-9);
}
INSTANTIATE_TEST_SUITE_P(engine, ring_all_reduce,
                         testing::Combine(testing::Values(2U, 3U, 4U, 7U, 8U, 64U, 127U, 512U),
                                          testing::Values(0x1p10, 0x1p14, 0x1p20, 0x1p26, 0x1p32),
                                          testing::Values(NetworkKind::flow, NetworkKind::ideal)));

}  // namespace
}  // namespace weft
