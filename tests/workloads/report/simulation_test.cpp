#include "workloads/report/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "sim/base/check.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

// A hundred thousand micro-batches of half a second are hours: 2.5 of them are the end of the clock.
TEST(simulation, of_a_step_beyond_the_clock_is_refused_before_it_runs_with_a_batch_that_is_not) {
    const Study study =
        test::small_study({"model.layers=4", "model.hidden=8192", "batch.micro=16", "batch.global=3200000"});
    std::string text;
    try {
        simulate_step(study, make_plan(study));
    } catch (const RangeError& error) {
        text = error.what();
    }
    const std::string key = "batch.global=";
    ASSERT_NE(text.find(key), std::string::npos) << text;
    EXPECT_NE(text.find("a simulation ends after 9200 s"), std::string::npos) << text;
    const unsigned long batch = std::stoul(text.substr(text.find(key) + key.size()));
    EXPECT_LT(batch, 3200000U) << text;
    EXPECT_EQ(batch % 32, 0U) << "two data ranks with micro-batches of sixteen";
}

// Joint passes free layer by layer: with one layer in a chunk, all but the head's share is there from its begin on.
TEST(memory_timeline, of_joint_passes_has_what_the_head_keeps_from_the_head_on) {
    const Study study =
        test::small_study({"model.layers=2", "model.experts.count=4", "layout.tensor=1", "layout.pipeline=2",
                           "layout.data=2", "layout.expert=2", "batch.global=16", "schedule=dualpipe"});
    const Simulation run = simulate_step(study, make_plan(study));
    std::size_t heads = 0;
    for (RankClassId id{}; id != run.step.stage.end_id(); id = next(id)) {
        for (const Chunk& chunk : run.plan.stages[run.step.stage[id]].chunks) {
            if (!chunk.has_head()) continue;
            ASSERT_EQ(chunk.layers, 1U);
            Instant begin = Instant::never();
            const RankClass& rank_class = run.step.program.classes[id];
            for (OpId at{rank_class.first_op}; index(at) < rank_class.end_op(); at = next(at)) {
                const Op& op = run.step.program.ops[at];
                if (op.kind != OpKind::compute || op.part != chunk.first_layer) continue;
                begin = std::min(begin, run.timeline.spans[at].begin);
            }
            const std::vector<MemoryPoint> points = memory_timeline(run, id);
            const auto at = std::ranges::find(points, begin, &MemoryPoint::at);
            ASSERT_TRUE(at != points.end() && at != points.begin());
            EXPECT_GT(chunk.head_activations, Bytes{});
            EXPECT_NEAR((at->in_use - std::prev(at)->in_use).value, (chunk.activations - chunk.head_activations).value,
                        1.0);
            ++heads;
        }
    }
    EXPECT_GT(heads, 0U);
}

// "on 2 nodes", or what a job takes of its nodes: jobs of GB200 take 64 of a rack.
TEST(report, says_how_much_of_a_node_a_job_takes) {
    const auto layout = [](const std::vector<std::string>& settings) {
        const std::string text = planned_report(make_plan(test::small_study(settings)), NetworkKind::flow).layout;
        return text.substr(text.find(" on ") + 1);
    };
    EXPECT_EQ(layout({}), "on 2 nodes");
    EXPECT_EQ(layout({"layout.data=1"}), "on 1 node");
    EXPECT_EQ(layout({"layout.data=1", "layout.tensor=1"}), "on 4 of the 8 GPUs of a node");
    EXPECT_EQ(layout({"machine=gb200-nvl72", "layout.data=16"}), "on 64 of the 72 GPUs of each of 2 nodes");
}

}  // namespace
}  // namespace weft
