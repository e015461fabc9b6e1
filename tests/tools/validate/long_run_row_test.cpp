// Rows that measure whole runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/io/diagnostics.hpp"
#include "tools/validate/run.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

ValidationSet set_of_runs(const std::string& table) {
    return read_validation_set("runs.json", R"({"title": "t", "source": "s", "job": {"machine": "dgx-a100",
        "framework": "megatron", "model": "gpt3-125m", "batch": {"global": 8}, "layout": {"data": 8}}})",
                               "runs.csv", table);
}

std::string complaint_of(const std::string& table) {
    try {
        const ValidationSet set = set_of_runs(table);
        static_cast<void>(run_validation({&set, 1}));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "none";
}

// One node of 6.50 failures in 1000 node-days.
TEST(long_run_row, tells_how_often_a_run_is_interrupted) {
    const ValidationSet set = set_of_runs(
        "name,use,measured.run.hardware,measured.run.between_failures_s,measured.run.goodput,run.days,run.spares\n"
        "a,predict,6.5,13284000,0.99,1000,3\n");
    const std::vector<ValidatedRow> rows = run_validation({&set, 1});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_NEAR(rows[0].predicted, 6.5, 0.6);
    EXPECT_LT(rows[1].predicted, 3690 * 3600.0) << "software fails as well";
    EXPECT_LT(rows[2].predicted, 1.0);
    EXPECT_FALSE(rows[0].job) << "no step: of no kind of job that errors.csv tells of";
}

TEST(long_run_row, has_the_terms_of_the_row) {
    const ValidationSet set = set_of_runs(
        "name,use,measured.run.planned,run.days,run.checkpoint_every,run.asynchronous,run.detection,run.launch\n"
        "a,predict,1,7,3 h,true,30 s,1 min\n");
    const std::vector<ValidationCase> cases = validation_cases({&set, 1});
    const RunTerms& terms = std::get<RunRequest>(cases.front().subject).terms;
    EXPECT_EQ(terms.time, Seconds{7 * 86400.0});
    EXPECT_EQ(terms.interval, Seconds{3 * 3600.0});
    EXPECT_EQ(terms.saving, Saving::asynchronous);
    EXPECT_EQ(terms.detection, Seconds{30.0});
    EXPECT_EQ(terms.launch, Seconds{60.0});
    EXPECT_THAT(row_job_text(set, set.rows.front()), ::testing::Not(HasSubstr("run\"")));
}

TEST(long_run_row, tells_mistakes) {
    EXPECT_THAT(complaint_of("name,use,measured.run.goodput,run.dyas\na,fit,1,3\n"), HasSubstr("run.dyas"));
    EXPECT_THAT(complaint_of("name,use,measured.run.goodput,measured.step_s,run.days\na,fit,1,1,3\n"),
                HasSubstr("no measurement of one"));
    EXPECT_THAT(complaint_of("name,use,measured.run.godput,run.days\na,fit,1,3\n"),
                HasSubstr("a run has no run.godput"));
}

}  // namespace
}  // namespace weft
