// What is said of a step's size before it is laid out, against the program that comes of it and the bytes that it
// holds.
#include "workloads/step/step_builder.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/engine/run.hpp"
#include "sim/network/flow_network.hpp"
#include "tests/workloads/random_jobs.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

std::uint64_t parties_of(const Program& program) { return program.ops.exchanges.size(); }

// At most a twentieth more than was found, nor less than four fifths of it; a few more or less do not count.
bool is_near(std::uint64_t said, std::uint64_t found) {
    const auto a = static_cast<double>(said), b = static_cast<double>(found);
    return a <= 1.05 * b + 1 && a + 1 >= 0.8 * b;
}

// Bytes that the process has asked for and not given back.
double held() {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

RC_GTEST_PROP(step_size, counts_what_the_program_will_have, ()) {
    test::Settings settings = test::random_job();
    settings.push_back(test::key("batch.global", test::one_of({16U, 32U, 64U})));
    if (test::one_of({false, true})) settings.push_back("faults.jitter={\"spread\": 0.1}");
    try {
        const Study study = test::small_study(settings);
        StepSize size;
        const Simulation run = simulate_step(study, make_plan(study),
                                             {.folding = test::one_of({Folding::stages, Folding::exact, Folding::none}),
                                              .kept = Kept::sums,
                                              .on_size = [&size](const StepSize& told) { size = told; }});
        const Program& program = run.step.program;
        RC_ASSERT(size.ranks == study.job.layout.ranks());
        RC_ASSERT(size.classes == program.classes.size());
        RC_ASSERT(is_near(size.ops, program.ops.size()));
        RC_ASSERT(is_near(size.kept, program.ops.kept.size()));
        RC_ASSERT(is_near(size.parties, parties_of(program)));
        RC_ASSERT(is_near(size.exchanges, program.exchanges.size()));
        const Program unfolded = unfold(program);
        RC_ASSERT(is_near(size.unfolded_ops, unfolded.ops.size()));
        RC_ASSERT(is_near(size.unfolded_parties, parties_of(unfolded)));
        RC_ASSERT(is_near(size.unfolded_exchanges, unfolded.exchanges.size()));
    } catch (const ConfigError&) {
        RC_DISCARD("refused");
    } catch (const RangeError&) {
        RC_DISCARD("refused");
    }
}

struct Shape {
    std::string name;
    std::vector<std::string> settings;
    Folding folding = Folding::none;
};

class step_size_of : public testing::TestWithParam<Shape> {};

// Beside the process itself, which is larger than a small step.
TEST_P(step_size_of, is_within_a_factor_of_two_of_the_bytes_that_are_held) {
    if (held() == 0) GTEST_SKIP() << "an allocator that does not tell what it holds";
    const Study study = test::small_study(GetParam().settings);
    const Plan plan = make_plan(study);
    StepSize size;
    double before = 0.0;
    const auto prepared = prepare(study);
    const Step step =
        build_step(plan, prepared->costs(plan), {.folding = GetParam().folding, .on_size = [&](const StepSize& told) {
                                                     size = told;
                                                     before = held();
                                                 }});
    FlowNetwork network(prepared->topology(), step.program.patterns, most_in_flight(step.program));
    const Engine<FlowNetwork> engine(step.program, network);
    const double most = held() - before;
    const double said = (size.memory() - StepSize{}.memory()).value;
    EXPECT_LT(said, 2.0 * most) << size.ops << " operations, " << size.loads() << " loads";
    EXPECT_GT(said, 0.5 * most) << size.ops << " operations, " << size.loads() << " loads";
}

TEST_P(step_size_of, with_routines_written_out_is_within_a_factor_of_two_too) {
    if (held() == 0) GTEST_SKIP() << "an allocator that does not tell what it holds";
    const Study study = test::small_study(GetParam().settings);
    StepSize size;
    const Simulation run =
        simulate_step(study, make_plan(study),
                      {.folding = GetParam().folding, .kept = Kept::sums, .on_size = [&](StepSize s) { size = s; }});
    if (run.step.program.routines.empty()) GTEST_SKIP() << "no routines";
    StepSize written = size;
    written.is_written_out = true;
    const double before = held();
    const Program program = unfold(run.step.program);
    const Table<OpId, Span> spans(program.ops.size());
    const double more = held() - before;
    const double said = (written.memory() - size.memory()).value;
    EXPECT_LT(said, 2.0 * more);
    EXPECT_GT(said, 0.5 * more);
}

INSTANTIATE_TEST_SUITE_P(
    shapes, step_size_of,
    testing::Values(
        Shape{"frontier", {"layout.data=8", "batch.global=128"}},
        Shape{"frontier_jitter", {"layout.data=8", "batch.global=128", "faults.jitter={\"spread\": 0.1}"}},
        Shape{"h100", {"machine=dgx-h100", "layout.tensor=8", "layout.data=4", "batch.global=128", "precision=bf16"}},
        Shape{"h100_experts",
              {"machine=dgx-h100", "layout.data=8", "batch.global=128", "model.experts.count=8",
               "model.experts.top_k=2", "layout.expert=8", "sequence_parallel=true", "precision=bf16"}},
        Shape{
            "frontier_exact", {"layout.data=16", "batch.global=256", "framework=deepspeed", "zero=1"}, Folding::exact}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weft
