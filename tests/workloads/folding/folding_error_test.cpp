// What the report says of steps folded by stages: how far they lie from exact ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "workloads/folding/folding.hpp"
#include "workloads/report/report.hpp"

namespace weft {
namespace {

struct Case {
    std::string machine, framework;
    std::uint32_t tensor, pipeline, data;
};

Report report_of(const Case& job, Folding folding) {
    const Study study =
        read_study(Document::parse("job.json", fmt::format(R"({{
        "machine": "{}",
        "model": "gpt-neox-20b",
        "framework": "{}",
        "layout": {{"tensor": {}, "pipeline": {}, "data": {}}},
        "batch": {{"sequence": 2048, "micro": 1, "global": {}}},
        "zero": 1,
        "recompute": "full"
    }})",
                                                           job.machine, job.framework, job.tensor, job.pipeline,
                                                           job.data, 2 * job.pipeline * job.data)));
    return make_report(simulate_step(study, make_plan(study), {.folding = folding}));
}

class folding_error_of : public testing::TestWithParam<Case> {};

TEST_P(folding_error_of, is_within_what_the_report_says) {
    const Report exact = report_of(GetParam(), Folding::exact), stages = report_of(GetParam(), Folding::stages);
    EXPECT_GT(exact.classes, stages.classes);
    const auto off = [&](std::string_view key) { return stages.metric(key) / exact.metric(key) - 1.0; };
    EXPECT_GE(off("step.time_s"), -folding_error.step_below);
    EXPECT_LE(off("step.time_s"), folding_error.step_above);
    EXPECT_LE(std::abs(off("step.exposed_communication_s")), folding_error.exposed);
}

INSTANTIATE_TEST_SUITE_P(on_machines_where_ranks_differ, folding_error_of,
                         testing::Values(Case{"frontier", "deepspeed", 4, 4, 8}, Case{"alps", "megatron", 8, 2, 8},
                                         Case{"alps", "deepspeed", 8, 2, 8}, Case{"aurora", "megatron", 8, 2, 8},
                                         Case{"aurora", "megatron", 8, 4, 4}, Case{"aurora", "megatron", 4, 2, 32},
                                         Case{"aurora", "deepspeed", 4, 2, 32}, Case{"leonardo", "megatron", 8, 4, 4},
                                         Case{"gb200-nvl72", "megatron", 4, 2, 32},
                                         Case{"megascale", "megatron", 8, 2, 64},
                                         Case{"megascale", "deepspeed", 4, 4, 64}));

}  // namespace
}  // namespace weft
