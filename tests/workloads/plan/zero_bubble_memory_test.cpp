// Peaks of a middle stage against Qi et al., Zero Bubble Pipeline Parallelism (2401.10241), tables 3 to 5: memory in GB
// per schedule on A100-80GB, pipeline parallelism alone, sequences of 1024. Assumptions: unfused attention with dropout
// and fp16, the program's defaults then; "ZB-1p" is zb-h1, "ZB-2p" zb-h2. The first and last stage of the runs have a
// layer less, which here they have not; a middle stage is the fullest of the runs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

struct Peak {
    std::uint32_t layers, hidden, heads, stages, micro;
    std::string schedule;
    double gigabytes;
};

void PrintTo(const Peak& peak, std::ostream* out) { *out << peak.layers << " layers, " << peak.schedule; }

const std::vector<Peak> published{
    {24, 2304, 24, 8, 6, "1f1b", 30},   {32, 4096, 32, 8, 3, "1f1b", 39},   {48, 5120, 40, 16, 1, "1f1b", 32},
    {64, 6144, 48, 32, 1, "1f1b", 43},  {24, 2304, 24, 8, 6, "zb-h1", 32},  {32, 4096, 32, 8, 3, "zb-h1", 42},
    {48, 5120, 40, 16, 1, "zb-h1", 33}, {64, 6144, 48, 32, 1, "zb-h1", 44}, {24, 2304, 24, 8, 6, "zb-h2", 59},
    {32, 4096, 32, 8, 3, "zb-h2", 70},  {48, 5120, 40, 16, 1, "zb-h2", 51}, {64, 6144, 48, 32, 1, "zb-h2", 74}};

class zero_bubble_peak : public ::testing::TestWithParam<Peak> {};

TEST_P(zero_bubble_peak, is_predicted) {
    const Peak& row = GetParam();
    const Plan plan = make_plan(test::small_study(
        {"machine=dgx-a100", fmt::format("model.layers={}", row.layers), fmt::format("model.hidden={}", row.hidden),
         fmt::format("model.heads={}", row.heads), "layout.tensor=1", "layout.data=1",
         fmt::format("layout.pipeline={}", row.stages), fmt::format("schedule={}", row.schedule), "attention=unfused",
         "dropout=true", fmt::format("batch.micro={}", row.micro),
         fmt::format("batch.global={}", 4 * row.stages * row.micro)}));
    const double predicted = plan.stages.at(1).memory.allocated().value / 1e9;
    fmt::print("{} layers, {}: published {} GB, predicted {:.1f} GB\n", row.layers, row.schedule, row.gigabytes,
               predicted);
    EXPECT_NEAR(predicted / row.gigabytes, 1.0, 0.05);
}

INSTANTIATE_TEST_SUITE_P(tables, zero_bubble_peak, ::testing::ValuesIn(published));

}  // namespace
}  // namespace weft
