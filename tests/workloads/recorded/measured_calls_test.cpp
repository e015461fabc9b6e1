// Collectives of recorded steps, as measurements of a library.
#include "workloads/recorded/measured_calls.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "topologies/calibration/calibration.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/recorded/reading.hpp"
#include "workloads/recorded/simulated_ranks.hpp"

namespace weft {
namespace {

// A rank that makes these calls, in microseconds, of one group.
RecordedRank rank_of(const std::vector<double>& microseconds, std::uint32_t group, Bytes bytes) {
    RecordedRank rank{.file = "a rank"};
    for (const double each : microseconds) {
        rank.nodes.push_back({.time = Seconds{each * 1e-6},
                              .bytes = bytes,
                              .partner = group,
                              .kind = RecordedKind::collective,
                              .op = Collective::all_gather});
    }
    return rank;
}

// A machine whose nodes have so many accelerators, with a NIC each.
MachineInfo nodes_of(std::uint32_t accelerators) {
    MachineInfo machine;
    machine.accelerators_per_node = machine.nics_per_node = accelerators;
    return machine;
}

TEST(measured_calls, last_as_long_as_on_the_rank_that_waits_least) {
    RecordedProgram program{.groups = {{0, 1}}};
    program.ranks = {rank_of({10, 50, 30}, 0, 64_KiB), rank_of({90, 20, 31}, 0, 64_KiB)};
    const MeasuredCalls calls = measured_calls(program, nodes_of(8));
    ASSERT_EQ(calls.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(calls.rows[0].time.value, 20e-6);  // the median of 10, 20 and 30
    EXPECT_DOUBLE_EQ(calls.rows[0].size.value, (128_KiB).value);
    EXPECT_EQ(calls.rows[0].ranks, 2U);
    EXPECT_EQ(calls.rows[0].nodes, 1U);
    EXPECT_EQ(calls.incomplete, 0U);
}

TEST(measured_calls, of_a_rank_alone_the_shortest_counts) {
    RecordedProgram program{.groups = {{0, 1}}};
    program.ranks = {rank_of({10, 50, 30}, 0, 64_KiB), {}};
    const MeasuredCalls calls = measured_calls(program, nodes_of(1));
    ASSERT_EQ(calls.rows.size(), 1U);
    EXPECT_DOUBLE_EQ(calls.rows[0].time.value, 10e-6);
    EXPECT_EQ(calls.rows[0].nodes, 2U);
    EXPECT_EQ(calls.incomplete, 1U);
}

TEST(measured_calls, groups_that_cannot_be_placed_are_named) {
    RecordedProgram program{.groups = {{0, 1, 4}, {}, {0, 1, 4, 5}}};
    program.ranks = {rank_of({10}, 0, 1_KiB), rank_of({10}, 1, 1_KiB), rank_of({10}, 2, 1_KiB)};
    const MeasuredCalls calls = measured_calls(program, nodes_of(4));
    EXPECT_TRUE(calls.rows.empty());
    EXPECT_EQ(calls.skipped, (std::vector<std::string>{
                                 "3 ranks that do not fill their nodes of 4 evenly", "a group that nobody defines",
                                 "2 of the 4 ranks of each of 2 nodes, which share its NICs with others"}));
}

TEST(measured_calls, of_unlike_steps_are_left_out) {
    RecordedProgram program{.groups = {{0, 1}, {2, 3}}};
    program.ranks = {rank_of({10, 50}, 0, 64_KiB), rank_of({90, 20}, 0, 64_KiB), rank_of({10, 50}, 1, 64_KiB),
                     rank_of({90, 20}, 1, 64_KiB)};
    program.ranks[1].nodes[1].op = Collective::all_reduce;
    EXPECT_EQ(measured_calls(program, nodes_of(4)).skipped,
              std::vector<std::string>{"ranks that do not make the same calls"});
    program.ranks[3].nodes[0].bytes = 1_KiB;
    EXPECT_TRUE(measured_calls(program, nodes_of(4)).rows.empty());
    for (RecordedRank& rank : program.ranks) {
        for (RecordedNode& node : rank.nodes) node.op = Collective::all_to_all;
    }
    EXPECT_EQ(measured_calls(program, nodes_of(4)).skipped.size(), 0U);
}

// Exported by the profiler's format and read again, the calls of a step give back the constants that it took.
TEST(measured_calls, a_library_is_found_again_by_what_a_step_was_recorded_to_take) {
    const Study study = read_study(Document::parse("job.json", R"({"machine": {"extends": "dgx-h100", "nodes": 4},
        "model": "llama3-8b", "framework": "megatron", "layout": {"tensor": 8, "data": 4}, "sequence_parallel": true,
        "overlap_gradients": false, "batch": {"sequence": 2048, "micro": 1, "global": 16}})"));
    const Simulation run = simulate_step(study, make_plan(study));
    SimulatedRanks ranks(run);
    std::vector<RankId> all;
    for (std::uint32_t i = 0; i < 32; ++i) all.push_back(RankId{i});
    std::vector<std::string> texts, names;
    find_export("kineto").step(ranks, all, [&](const std::string& name, std::string_view text) {
        names.push_back(name);
        texts.emplace_back(text);
    });
    std::vector<SourceFile> files;
    for (std::size_t i = 0; i < texts.size(); ++i) files.push_back({names[i], texts[i]});
    const MeasuredCalls calls = measured_calls(read_recorded(files), study.machine.info());
    CalibrationTask task;
    for (const CollectiveMeasurement& row : calls.rows) task.rows.push_back({.measured = row});
    const Library& truth = study.machine.info().library();
    Library other = truth;
    other.launch *= 1.2;
    for (ProtocolCost& cost : other.costs) {
        cost.efficiency_in_node *= 0.85;
        cost.efficiency_across *= 0.85;
        cost.efficiency_shared = cost.efficiency_across;
    }
    const Calibration found = calibrate(study.machine, other, task);
    int determined = 0;
    for (const FittedConstant& constant : found.constants) {
        if (constant.rows < 3) continue;  // one size does not tell a step from an efficiency
        const bool is_launch = constant.cost == truth.costs.size();
        const double expected = is_launch ? truth.launch.value : truth.costs[constant.cost].step_in_node.value;
        if (!is_launch && constant.name != "step_in_node") continue;
        EXPECT_NEAR(constant.after, expected, 0.02 * expected) << constant.name;
        ++determined;
    }
    EXPECT_GE(determined, 2);
    for (std::size_t i = 0; i < found.times.size(); ++i) {
        EXPECT_NEAR(found.times[i].after / calls.rows[i].time, 1.0, 0.02);
    }
}

}  // namespace
}  // namespace weft
