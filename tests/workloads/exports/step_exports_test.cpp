// Traces of simulated steps, read back: replayed they give the step again, compared and fitted what was simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "tests/refusal.hpp"
#include "tests/workloads/studies.hpp"
#include "topologies/machine.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/recorded/replay.hpp"
#include "workloads/recorded/simulated_ranks.hpp"
#include "workloads/recorded/step_comparison.hpp"

namespace weft {
namespace {

using testing::HasSubstr;

using Files = std::map<std::string, std::string>;

Files exported(std::string_view format, const Simulation& run, std::vector<RankId> ranks = {}) {
    SimulatedRanks step(run);
    for (std::uint32_t rank = 0; ranks.size() == rank && rank < step.ranks(); ++rank) ranks.push_back(RankId{rank});
    Files files;
    find_export(format).step(step, ranks,
                             [&](const std::string& name, std::string_view text) { files.emplace(name, text); });
    return files;
}

RecordedProgram read_back(const Files& files) {
    std::vector<SourceFile> sources;
    for (const auto& [name, text] : files) sources.push_back({name, text});
    return read_recorded(sources);
}

Simulation simulated(const Study& study, NetworkKind network = NetworkKind::flow) {
    return simulate_step(study, make_plan(study), {.network = network, .folding = Folding::none});
}

double replayed_s(const RecordedProgram& program, const Simulation& run) {
    const Meetings meetings = meet(program);
    const RecordedCosts costs = recorded_costs(program, meetings, run.topology(), run.plan.machine.library());
    return since_start(replay(program, meetings, costs, run.topology(), run.options.network).over).value;
}

// Tensor, pipeline and data ranks; FSDP with a host that binds; experts and context ranks; copies to the host.
std::vector<Study> studies() {
    std::vector<Study> all;
    all.push_back(test::small_study());
    all.push_back(
        test::small_study({"schedule=interleaved", "layout.virtual_stages=2", "overlap_gradients=true", "zero=1"}));
    for (const char* const job :
         {R"({"machine": {"extends": "dgx-h100", "nodes": 2}, "layout": {"data": 16}, "framework": "fsdp",
              "model": {"layers": 4, "hidden": 1024, "heads": 16, "vocabulary": 32000}, "precision": "bf16",
              "batch": {"sequence": 1024, "micro": 1, "global": 16}, "fsdp": {"version": 2}, "modules": "plain"})",
          R"({"machine": {"extends": "dgx-h100", "nodes": 2}, "framework": "megatron", "precision": "bf16",
              "layout": {"tensor": 2, "context": 2, "expert": 4, "data": 4}, "sequence_parallel": true,
              "model": {"layers": 4, "hidden": 1024, "heads": 16, "vocabulary": 32000, "ffn_hidden": 4096,
                        "gated": true, "experts": {"count": 8, "top_k": 2}},
              "batch": {"sequence": 2048, "micro": 1, "global": 8}})"}) {
        all.push_back(read_study(Document::parse("job.json", job)));
    }
    return all;
}

class ExportedSteps : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(all, ExportedSteps, testing::Range(std::size_t{0}, std::size_t{4}));

TEST_P(ExportedSteps, replay_as_they_were_simulated) {
    const Study study = studies()[GetParam()];
    const Simulation run = simulated(study);
    const double step = since_start(run.timeline.end).value;
    for (const char* const format : {"chakra", "goal", "kineto"}) {
        SCOPED_TRACE(format);
        // Kineto does not say what a stream waited for, which is told from times; a library that splits messages over
        // channels is faster than GOAL's messages one by one, and these steps are short.
        const std::string_view which = format;
        const double within = which == "goal" ? 0.1 : which == "kineto" ? 0.04 : 0.01;
        EXPECT_NEAR(replayed_s(read_back(exported(format, run)), run) / step, 1.0, within);
    }
}

// Messages one by one or a call as a whole: the same computations wait for one another.
TEST_P(ExportedSteps, wait_for_the_same_where_messages_take_no_time) {
    const Study study = studies()[GetParam()];
    const Simulation run = simulated(study, NetworkKind::free);
    const double step = since_start(run.timeline.end).value;
    EXPECT_NEAR(replayed_s(read_back(exported("chakra", run)), run) / step, 1.0, 1e-3);  // whole microseconds
    EXPECT_NEAR(replayed_s(read_back(exported("goal", run)), run) / step, 1.0, 1e-5);
    EXPECT_NEAR(replayed_s(read_back(exported("kineto", run)), run) / step, 1.0, 5e-3);
}

TEST_P(ExportedSteps, tell_each_rank_what_it_calls) {
    const Study study = studies()[GetParam()];
    const Simulation run = simulated(study);
    SimulatedRanks step(run);
    const RecordedProgram read = read_back(exported("chakra", run));
    ASSERT_EQ(read.ranks.size(), step.ranks());
    for (std::uint32_t rank = 0; rank < step.ranks(); ++rank) {
        const SimulatedRank own = step.rank(RankId{rank});
        std::map<std::string, double> bytes, read_bytes;
        for (const RecordedNode& node : own.record.nodes) {
            const bool is_ring = node.kind == RecordedKind::collective && node.op == Collective::send_receive;
            if (node.kind == RecordedKind::send || is_ring) bytes["send"] += node.bytes.value;
            if (node.kind == RecordedKind::collective && !is_ring)
                bytes[std::string(name(node.op))] += node.bytes.value;
        }
        for (const RecordedNode& node : read.ranks[rank].nodes) {
            if (node.kind == RecordedKind::send) read_bytes["send"] += node.bytes.value;
            if (node.kind == RecordedKind::collective) read_bytes[std::string(name(node.op))] += node.bytes.value;
        }
        EXPECT_EQ(read_bytes.size(), bytes.size());
        for (const auto& [op, sum] : bytes)
            EXPECT_NEAR(read_bytes[op], sum, static_cast<double>(own.record.nodes.size())) << op;
    }
}

TEST_P(ExportedSteps, compare_as_what_was_simulated) {
    const Study study = studies()[GetParam()];
    const Simulation run = simulated(study);
    const std::string trace = exported("kineto", run, {RankId{0}}).at("rank0.json");
    const StepComparison found = compare_step(read_kineto(ByteSource("rank0.json", trace)), run);
    EXPECT_EQ(found.named, 1.0);
    EXPECT_GT(found.matched, 0.99);
    EXPECT_EQ(found.ranks[0], found.ranks[1]);
    EXPECT_NEAR(static_cast<double>(found.duration[0]) / static_cast<double>(found.duration[1]), 1.0, 1e-3);
    for (const ComparedCall& call : found.calls) {
        EXPECT_EQ(call.calls[0], call.calls[1]) << call.op;
        EXPECT_NEAR(call.bytes[0], call.bytes[1], 1e-6 * call.bytes[1] + 8 * call.calls[1]) << call.op;
        EXPECT_NEAR(call.seconds[0], call.seconds[1], 1e-9 * call.calls[1]) << call.op;
    }
    for (const ComparedWork& work : found.classes) {
        if (work.key.what == WorkClass::communication || work.femtoseconds[1] == 0) continue;
        EXPECT_GE(work.kernels[0], 0.98 * work.kernels[1]) << name(work.key.what);  // parts of one are whole ones
        // What disturbs computation lengthens it.
        EXPECT_GE(static_cast<double>(work.femtoseconds[0]), 0.999 * static_cast<double>(work.femtoseconds[1]));
    }
}

TEST(step_exports, ranks_that_were_asked_for_alone) {
    const Simulation run = simulated(test::small_study());
    const Files some = exported("kineto", run, {RankId{3}, RankId{7}}), all = exported("kineto", run);
    EXPECT_EQ(some.size(), 2U);
    EXPECT_TRUE(some.at("rank7.json") == all.at("rank7.json"));
    EXPECT_THAT(test::refusal_of([&] { exported("goal", run, {RankId{3}}); }), HasSubstr("of all ranks"));
}

TEST(step_exports, folded_steps_are_those_of_their_ranks) {
    const Study study = test::small_study();
    const Simulation folded = simulate_step(study, make_plan(study), {.folding = Folding::exact});
    EXPECT_TRUE(exported("chakra", folded) == exported("chakra", simulated(study)));
}

TEST(step_exports, too_many_nodes_are_refused) {
    EXPECT_THAT(test::refusal_of([] { check_exported_nodes(most_exported_nodes + 1); }), HasSubstr("--ranks"));
    EXPECT_EQ(test::refusal_of([] { check_exported_nodes(most_exported_nodes); }), "");
}

}  // namespace
}  // namespace weft
