// Gathers and scatters under their products: what the step gains, and what it cannot.
#include <gtest/gtest.h>

#include "tests/refusal.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/report/report.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

// Layers of one node of 8 H100, large enough for products of about the length of their communication.
Settings tensor_job(const Settings& more) {
    Settings settings{"machine=dgx-h100",    "layout.tensor=8", "layout.pipeline=1",     "layout.data=1",
                      "batch.global=1",      "model.layers=4",  "model.hidden=4096",     "model.heads=32",
                      "batch.sequence=4096", "precision=bf16",  "sequence_parallel=true"};
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

double step(const Settings& more) {
    const Study study = test::small_study(tensor_job(more));
    return make_report(simulate_step(study, make_plan(study))).metric("step.time_s");
}

TEST(tensor_overlap, is_never_slower_and_helps) {
    for (const char* hidden : {"model.hidden=1024", "model.hidden=4096", "model.hidden=16384"}) {
        for (const char* recompute : {"recompute=none", "recompute=full"}) {
            EXPECT_LT(step({hidden, recompute, "megatron.overlap_tensor=true"}), step({hidden, recompute})) << hidden;
        }
    }
}

// The computations stay the same and fill the step alone; communication cannot take less than none.
TEST(tensor_overlap, keeps_every_computation) {
    const auto work = [](const Settings& more) {
        const Study study = test::small_study(tensor_job(more));
        const Script script = step_script(make_plan(study), 0, StepKind::steady);
        double sum = 0;
        for (const Action& action : script.actions()) {
            if (action.kind == Action::Kind::compute) sum += script.work()[action.subject].value;
        }
        return sum;
    };
    EXPECT_NEAR(work({"megatron.overlap_tensor=true"}), work({}), 1e-12);
    EXPECT_GT(step({"megatron.overlap_tensor=true"}), work({}));
}

TEST(tensor_overlap, issues_the_same_calls) {
    const auto bytes = [](const Settings& more) {
        const Study study = test::small_study(tensor_job(more));
        const Script script = step_script(make_plan(study), 0, StepKind::steady);
        std::pair<std::size_t, double> sum;
        for (const Action& action : script.actions()) {
            if (action.kind != Action::Kind::call && action.kind != Action::Kind::issue) continue;
            ++sum.first;
            sum.second += script.calls()[action.subject].message.value;
        }
        return sum;
    };
    EXPECT_EQ(bytes({"megatron.overlap_tensor=true"}), bytes({}));
}

std::string refusal(const Settings& more) {
    return test::refusal_of([&] { test::small_study(more); });
}

TEST(tensor_overlap, is_refused_without_sequence_parallelism) {
    EXPECT_NE(refusal({"megatron.overlap_tensor=true"}).find("sequence parallelism"), std::string::npos);
    EXPECT_EQ(refusal({"megatron.overlap_tensor=true", "sequence_parallel=true"}), "");
}

TEST(megatron_gradients, are_kept_as_asked) {
    const auto bytes = [](const Settings& more) {
        const Job job = test::small_study(more).job;
        return job.framework->gradient_bytes(job);
    };
    EXPECT_EQ(bytes({"precision=bf16"}), 4);
    EXPECT_EQ(bytes({"precision=bf16", "megatron.gradients=bf16"}), 2);
    EXPECT_EQ(bytes({"precision=fp16"}), 2);
    EXPECT_EQ(bytes({"precision=fp16", "megatron.gradients=fp32"}), 4);
    EXPECT_EQ(bytes({"machine=dgx-h100", "precision=fp8"}), 4);
}

// Operands are gathered after they are cast: an element of fp8 is a byte, and sums stay in bf16.
TEST(tensor_calls, carry_one_byte_per_gathered_element_in_fp8) {
    const auto least = [](Collective op, const char* precision) {
        const Study study = test::small_study(tensor_job({std::string("precision=") + precision}));
        const Script script = step_script(make_plan(study), 0, StepKind::steady);
        double message = 1e30;
        for (const Call& call : script.calls()) {
            if (call.op == op && call.group == RankGroups{"tensor"}) message = std::min(message, call.message.value);
        }
        return message;
    };
    EXPECT_EQ(least(Collective::all_gather, "fp8"), 4096.0 * 4096);
    EXPECT_EQ(least(Collective::all_gather, "bf16"), 2 * 4096.0 * 4096);
    EXPECT_EQ(least(Collective::reduce_scatter, "fp8"), 2 * 4096.0 * 4096);
}

}  // namespace
}  // namespace weft
