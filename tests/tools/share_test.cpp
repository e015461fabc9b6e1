// `weft share` from outside: what it tells of jobs on one machine, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class share_command : public ::testing::Test {
  protected:
    share_command() {
        write("a.json", R"({"machine": "frontier", "nodes": 2, "model": "gpt-neox-125m", "framework": "deepspeed",
            "batch": {"sequence": 512, "micro": 1, "global": 16}, "zero": 1})");
        write("b.json", R"({"machine": "frontier", "nodes": 4, "model": "gpt-neox-125m", "framework": "deepspeed",
            "batch": {"sequence": 512, "micro": 1, "global": 32}, "zero": 3})");
    }

    void write(const std::string& name, const std::string& text) { std::ofstream(folder_.path() / name) << text; }
    test::Ran run(const std::string& jobs, const std::string& options = "") {
        write("both.json", "{\"jobs\": [\n" + jobs + "\n]}");
        return test::run_weft("share both.json " + options, folder_.path());
    }
    json result(const std::string& jobs, const std::string& options = "") {
        const test::Ran ran = run(jobs, options + " --json");
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        EXPECT_EQ(ran.err, "");
        return json::parse(ran.out);
    }
    std::string refusal(const std::string& jobs) {
        const test::Ran ran = run(jobs);
        EXPECT_EQ(ran.exit_code, 3) << ran.out;
        EXPECT_EQ(ran.out, "");
        return ran.err;
    }

    test::TemporaryFolder folder_;
};

TEST_F(share_command, jobs_without_a_placement_take_the_lowest_free_nodes) {
    const json shared = result(R"({"job": "b.json"}, {"job": "a.json", "placement": "nodes:1-2"},
        {"job": "a.json", "name": "c"})");
    EXPECT_EQ(shared.at("machine"), "frontier");
    const json& jobs = shared.at("jobs");
    ASSERT_EQ(jobs.size(), 3U);
    EXPECT_EQ(jobs[0].at("nodes"), json({0, 3, 4, 5}));
    EXPECT_EQ(jobs[1].at("nodes"), json({1, 2}));
    EXPECT_EQ(jobs[2].at("nodes"), json({6, 7}));
    EXPECT_EQ(jobs[2].at("name"), "c");
}

TEST_F(share_command, tells_on_a_page_what_each_job_loses) {
    const std::string jobs = R"({"job": "b.json"}, {"job": "a.json", "placement": "nodes:1-2", "name": "<a>"})";
    const auto page = [&](const std::string& of) {
        EXPECT_EQ(run(of, "--report page.html").exit_code, 0);
        return test::read_file((folder_.path() / "page.html").string());
    };
    const std::string apart = page(jobs);
    EXPECT_THAT(apart, HasSubstr("<span>share</span> <span>both.json</span>"));
    EXPECT_THAT(apart, HasSubstr("No two of them use the same link."));
    EXPECT_THAT(apart, HasSubstr("&lt;a&gt;"));
    EXPECT_THAT(apart, ::testing::Not(::testing::AnyOf(HasSubstr("<a>"), HasSubstr("waiting"), HasSubstr("lost to"))));
    const std::string meeting = page(R"({"job": "a.json", "name": "one", "placement": "nodes:0,128"},
        {"job": "a.json", "name": "two", "placement": "nodes:1,129"})");
    EXPECT_THAT(meeting, HasSubstr("lost to the others"));
    EXPECT_THAT(meeting, HasSubstr("The busiest of these links."));
}

TEST_F(share_command, alone_is_what_simulate_says_of_the_same_nodes) {
    const json shared = result(R"({"job": "a.json", "placement": "nodes:0,128", "set": {"batch.global": 32}},
        {"job": "b.json", "placement": "nodes:1,129,2,130", "start": "1 ms"})",
                               "--steps 2");
    const test::Ran ran = test::run_weft(
        "simulate a.json --no-fold --json --set batch.global=32 --set fabric.placement=nodes:0,128", folder_.path());
    const json step = json::parse(ran.out).at("step"), &job = shared.at("jobs")[0];
    EXPECT_EQ(job.at("alone").at("step_s"), step.at("time_s"));
    EXPECT_EQ(job.at("alone").at("exposed_communication_s"), step.at("exposed_communication_s"));
    EXPECT_GE(job.at("steps"), 2);
    EXPECT_EQ(shared.at("window").at("begin_s"), 0.001);
    EXPECT_EQ(job.at("slowdown").get<double>(),
              job.at("together").at("step_s").get<double>() / job.at("alone").at("step_s").get<double>());
    EXPECT_EQ(shared.at("meetings")[0].at("bytes").size(), 2U);
    EXPECT_LE(shared.at("links").size(), 8U);
}

TEST_F(share_command, another_placement_keeps_jobs_apart) {
    const std::string jobs = R"({"job": "a.json", "name": "one", "placement": "nodes:0,128"},
        {"job": "a.json", "name": "two", "placement": "nodes:1,129"})";
    const test::Ran crossing = run(jobs), apart = run(jobs, "--set 'jobs[1].placement=nodes:256-257'");
    EXPECT_THAT(crossing.out, HasSubstr("they meet on"));
    EXPECT_THAT(crossing.out, HasSubstr("slingshot.global"));
    EXPECT_THAT(apart.out, HasSubstr("no two of them use the same link"));
    EXPECT_THAT(run(jobs, "--links 0").out, ::testing::Not(HasSubstr("switch 0 ->")));
}

TEST_F(share_command, a_trace_has_the_ranks_of_all_jobs) {
    run(R"({"job": "a.json"}, {"job": "a.json", "name": "two"})", "--trace trace.json");
    const std::string trace = test::read_file(folder_.path() / "trace.json");
    EXPECT_THAT(trace, HasSubstr("a: rank 15"));
    EXPECT_THAT(trace, HasSubstr("two: rank 0"));
}

TEST_F(share_command, jobs_on_one_node_are_refused_with_its_number) {
    EXPECT_THAT(refusal(R"({"job": "b.json", "placement": "nodes:4-7"},
{"job": "a.json", "placement": "nodes:6,7"})"),
                HasSubstr("both.json:3:"));
    EXPECT_THAT(refusal(R"({"job": "b.json", "placement": "nodes:4-7"}, {"job": "a.json", "placement": "nodes:6,7"})"),
                HasSubstr("error: jobs[1].placement: nodes 6-7 of \"a\" are those of \"b\""));
}

TEST_F(share_command, jobs_are_of_one_machine) {
    write("other.json", R"({"machine": "lumi-g", "nodes": 2, "model": "gpt-neox-125m", "batch": {"global": 16}})");
    EXPECT_THAT(refusal(R"({"job": "a.json"}, {"job": "other.json"})"),
                HasSubstr("jobs[1].job: \"other\" is on lumi-g, and \"a\" on frontier: expected one machine"));
    EXPECT_THAT(
        refusal(R"({"job": "a.json", "set": {"machine.nodes": 100}},
        {"job": "b.json", "set": {"machine.nodes": 200}})"),
        HasSubstr("\"b\" is on frontier, changed, and \"a\" on another frontier, changed: expected one machine"));
    write("small.json", R"({"machine": {"extends": "frontier", "nodes": 5}, "nodes": 4, "model": "gpt-neox-125m",
        "batch": {"global": 32}})");
    EXPECT_THAT(refusal(R"({"job": "small.json"}, {"job": "small.json", "name": "b"})"),
                HasSubstr("jobs[1].job: \"b\" takes 4 nodes, and 1 of the machine's 5 are free"));
}

TEST_F(share_command, all_mistakes_are_told_at_once) {
    write("wrong.json", R"({"machine": "frontier", "model": "gpt-neox-125m", "batch": {"global": 0}})");
    const std::string text = refusal(R"({"job": "wrong.json"},
{"job": "a.json", "placement": "scatter:9", "begin": 3},
{"job": "b.json", "name": "a", "start": 1, "set": {"zreo": 2}})");
    for (const char* const part : {"wrong.json:1:", "batch.global",
                                   "both.json:3:", "jobs[1].placement: fabric.placement: 2 nodes do not reach 9",
                                   "jobs[1].begin: unknown key", "jobs[2].start: expected a quantity",
                                   "jobs[2].name: another job is called \"a\"", "jobs[2].set: zreo: unknown key"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_THAT(text, ::testing::Not(HasSubstr("at least one job")));
    EXPECT_THAT(refusal(""), HasSubstr("jobs: expected at least one job"));
    EXPECT_THAT(
        refusal(R"({"job": "a.json", "set": {"faults": {"links": [{"node": 0, "nic": 9, "bandwidth": 0.5}]}}})"),
        HasSubstr("has NICs 0 to 3, not 9"));
    EXPECT_THAT(
        refusal(R"({"job": "a.json"}, {"job": "b.json", "set": {"fabric.background": {"slingshot.global": 0.5}}})"),
        HasSubstr("expected the same fabric.background as of \"a\""));
    EXPECT_THAT(refusal(R"({"job": "a.json", "set": {"fabric.load": 0.5}},
                           {"job": "b.json", "set": {"fabric.load": 0.5, "fabric.quantile": 0.9}})"),
                HasSubstr("expected the same fabric.quantile as of \"a\""));
    EXPECT_THAT(refusal(R"({"job": "a.json"}, {"job": "b.json", "set": {"communication_units": 10}})"),
                HasSubstr("expected as many communication_units as of \"a\""));
}

TEST_F(share_command, what_takes_too_much_memory_is_refused) {
    const test::Ran ran = run(R"({"job": "a.json"}, {"job": "b.json"})", "--steps 1000 --memory-limit 20MiB");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_THAT(ran.err, HasSubstr("--memory-limit SIZE"));
}

}  // namespace
}  // namespace weft
