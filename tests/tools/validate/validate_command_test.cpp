// `weft validate` from outside: its JSON, its exit codes, its page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;
using testing::HasSubstr;

// A user's own set in a folder of its own.
class validate : public testing::Test {
  protected:
    void write(const std::string& bounds, const std::string& rows) {
        std::ofstream(folder_.path() / "runs.json")
            << R"({"title": "Runs & more", "source": "a < b", "assumptions": ["one"], "rows": "table.csv", "bounds": )"
            << bounds << R"(, "job": {"machine": "dgx-a100", "model": "gpt3-125m", "framework": "megatron",
                             "batch": {"sequence": 512, "global": 16}}})";
        std::ofstream(folder_.path() / "table.csv") << "name,use,measured.step_s,layout.tensor,note\n" << rows;
    }
    test::Ran run(const std::string& arguments) const {
        return test::run_weft("validate --set " + (folder_.path() / "runs.json").string() + " " + arguments);
    }
    std::string path(const char* name) const { return (folder_.path() / name).string(); }

    test::TemporaryFolder folder_;
};

constexpr const char* two_rows = "first,predict,1,1,\nsecond,fit,2,2,a note\n";

TEST_F(validate, tells_rows_with_jobs_that_simulate_runs) {
    write("{}", two_rows);
    const test::Ran ran = run("--json --flops megatron");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    const SortedJson json = SortedJson::parse(ran.out);
    ASSERT_EQ(json.at("rows").size(), 2U);
    for (const SortedJson& row : json.at("rows")) {
        std::ofstream(path("job.json")) << row.at("job").dump();
        const test::Ran simulated = test::run_weft("simulate " + path("job.json") + " --json --flops megatron");
        ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
        const SortedJson report = SortedJson::parse(simulated.out);
        EXPECT_EQ(report.at("step").at("time_s"), row.at("predicted"));
        EXPECT_DOUBLE_EQ(report.at("throughput").at("megatron_tflops_per_gpu").get<double>(),
                         row.at("predicted_tflops").get<double>());
        EXPECT_DOUBLE_EQ(row.at("error").get<double>(),
                         row.at("predicted").get<double>() / row.at("measured").get<double>() - 1);
    }
    const SortedJson& set = json.at("sets").at(0);
    EXPECT_EQ(set.at("predict").at("rows"), 1);
    EXPECT_EQ(set.at("fit").at("rows"), 1);
    EXPECT_TRUE(set.at("passed").get<bool>());
    EXPECT_EQ(set.at("assumptions"), SortedJson::parse(R"(["one"])"));
}

TEST_F(validate, writes_the_job_of_a_row) {
    write("{}", two_rows);
    const test::Ran ran = run("--job-of second");
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    std::ofstream(path("job.json")) << ran.out;
    EXPECT_EQ(test::run_weft("check " + path("job.json")).exit_code, 0);
    const test::Ran unknown = run("--job-of secnd");
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("did you mean \"second\"?"));
}

TEST_F(validate, fails_on_a_broken_bound_and_names_it) {
    write(R"({"mean": 1e-9, "max": 100})", two_rows);
    const test::Ran ran = run("");
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.err, HasSubstr("runs: the mean error of rows marked predict is"));
    EXPECT_THAT(ran.err, Not(HasSubstr("the max error")));
    EXPECT_THAT(ran.out, HasSubstr("BROKEN"));
    EXPECT_EQ(run("--filter first").exit_code, 0) << "bounds are of whole sets";
}

TEST_F(validate, says_what_has_no_bound_and_is_not_judged) {
    write(R"({"max": 100})", two_rows);
    EXPECT_EQ(run("--report " + path("page.html")).err,
              "Every bound holds; not judged, having none: predicted rows of 0 sets, fitted rows of 1.\n");
    EXPECT_THAT(test::read_file(path("page.html")), HasSubstr("not judged, having none: predicted rows of 0 sets"));
    write("{}", two_rows);
    EXPECT_EQ(run("").err, "No bound; not judged, having none: predicted rows of 1 sets, fitted rows of 1.\n");
}

TEST_F(validate, reports_disturbed_measurements_apart) {
    write(R"({"max": 100})", two_rows);
    std::ofstream(path("table.csv")) << "name,use,measured.step_s,disturbed\nfirst,predict,1,\nsecond,fit,9,a storm\n";
    const test::Ran ran = run("--report " + path("page.html"));
    EXPECT_EQ(ran.err, "Every bound holds.\n");
    EXPECT_THAT(ran.out, HasSubstr("Disturbed measurements, which count in no other figure:\n"));
    EXPECT_THAT(ran.out, HasSubstr("runs: a storm\n"));
    EXPECT_THAT(test::read_file(path("page.html")), HasSubstr("a storm"));
    const SortedJson json = SortedJson::parse(run("--json").out);
    EXPECT_EQ(json.at("disturbed").at("rows"), 1);
    EXPECT_EQ(json.at("rows").at(1).at("use"), "disturbed");
    EXPECT_EQ(json.at("rows").at(1).at("disturbed"), "a storm");
}

TEST_F(validate, tells_every_row_where_asked) {
    write("{}", two_rows);
    EXPECT_THAT(run("--rows").out, HasSubstr("second"));
    const std::string csv = run("--csv").out;
    EXPECT_THAT(csv, HasSubstr("set,name,use,quantity,measured,predicted,error\nruns,first,predict,step_s,1,"));
    EXPECT_EQ(run("--csv --jobs 1").out, run("--csv --jobs 3").out);
}

TEST_F(validate, has_the_users_mistakes_by_line_and_all_at_once) {
    write("{}", "first,predict,fast,1,\nfirst,gues,1,1,\n");
    const test::Ran ran = run("");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("table.csv:2:1: error: measured.step_s"));
    EXPECT_THAT(ran.err, HasSubstr("table.csv:3:1: error: use"));
    EXPECT_THAT(ran.err, HasSubstr("table.csv:3:1: error: \"first\" is the name of line 2, too"));
    write("{}", "first,predict,1,7,\nsecond,predict,1,9,\n");
    const test::Ran jobs = run("");
    EXPECT_EQ(jobs.exit_code, 3);
    EXPECT_THAT(jobs.err, HasSubstr("table.csv:2:1: error: layout"));
    EXPECT_THAT(jobs.err, HasSubstr("table.csv:3:1: error: layout"));
}

TEST_F(validate, records_errors_of_shipped_sets_alone) {
    write("{}", two_rows);
    const test::Ran ran = run("--record " + path("errors.csv"));
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("--record is of all shipped sets"));
}

TEST_F(validate, leaves_a_set_out_of_the_fits) {
    EXPECT_EQ(test::run_weft("validate --leave-out sc21").out, "sc21: no constant is fitted to it\n\n");
    const test::Ran library = test::run_weft("validate --leave-out collectives-h100-2x8");
    EXPECT_THAT(library.out, HasSubstr("not refittable"));
    EXPECT_EQ(test::run_weft("validate --leave-out sc21 --csv").exit_code, 2);
    EXPECT_EQ(test::run_weft("validate --leave-out sc2").exit_code, 3);
}

TEST_F(validate, refuses_what_it_does_not_know) {
    write("{}", two_rows);
    EXPECT_EQ(run("--filter nothing").exit_code, 2);
    EXPECT_EQ(run("--flops palm").exit_code, 2);
    EXPECT_EQ(run("--report page.htm").exit_code, 2);
    const test::Ran unknown = test::run_weft("validate --set sc2");
    EXPECT_EQ(unknown.exit_code, 3);
    EXPECT_THAT(unknown.err, HasSubstr("did you mean \"sc21\"?"));
}

TEST_F(validate, says_on_its_page_which_bounds_hold) {
    write(R"({"max": 100})", two_rows);
    run("--report " + path("page.html"));
    const std::string holds = test::read_file(path("page.html"));
    EXPECT_THAT(holds, HasSubstr("<td>max 10000.0 %</td><td>within</td>"));
    EXPECT_THAT(holds, Not(HasSubstr("class=\"bad\"")));
    write(R"({"mean": 0.0001})", two_rows);
    run("--report " + path("page.html"));
    EXPECT_THAT(test::read_file(path("page.html")), HasSubstr("<td>BROKEN</td>"));
}

TEST_F(validate, writes_a_page_of_its_own) {
    write("{}", two_rows);
    ASSERT_EQ(run("--report " + path("page.html")).exit_code, 0);
    const std::string page = test::read_file(path("page.html"));
    EXPECT_THAT(page, HasSubstr("Runs &amp; more"));
    EXPECT_THAT(page, HasSubstr("a &lt; b"));
    EXPECT_THAT(page, HasSubstr("a note"));
    EXPECT_THAT(page, HasSubstr("<summary>Runs &amp; more")) << "folded";
    EXPECT_THAT(page, HasSubstr("\"units\":[")) << "of every row, to be drawn";
    EXPECT_FALSE(std::regex_search(page, std::regex(R"re((src|href)="(?!#|data:))re"))) << "nothing from elsewhere";
    EXPECT_FALSE(std::regex_search(page, std::regex(R"(\bnan\b)")));
}

}  // namespace
}  // namespace weft
