// Every option that takes a count, from outside.
#include <gtest/gtest.h>

#include <set>

#include "tests/tools/program.hpp"
#include "tools/command_line.hpp"

namespace weft {
namespace {

constexpr const char* job = "workloads/jobs/frontier-gpt-neox-20b-3d.json";

struct Use {
    const char* name;
    const char* command;  // up to the count
    const char* option;
};

class count_option_of : public testing::TestWithParam<Use> {};

TEST_P(count_option_of, refuses_what_is_no_such_count_with_its_name) {
    const std::string command = GetParam().command;
    for (const char* text : {"-1", "x", "1.5", "99999999999", "''", "0x10"}) {
        const test::Ran ran = test::run_weft(command + " --" + GetParam().option + " " + text);
        EXPECT_EQ(ran.exit_code, 2) << ran.err;
        const std::string begin =
            std::string("error: --") + GetParam().option + ": expected a whole number of at least";
        EXPECT_EQ(ran.err.substr(0, begin.size()), begin);
        EXPECT_EQ(ran.out, "");
    }
}

const std::string plan = std::string("plan ") + job, sweep = std::string("sweep --vary zero=0,1 ") + job,
                  volume = std::string("volume --view logger ") + job;
constexpr const char* collective = "collective broadcast --machine frontier --sizes 1K";
const std::string ranked = std::string(collective) + " --ranks 16";

INSTANTIATE_TEST_SUITE_P(
    commands, count_option_of,
    testing::Values(Use{"plan_top", plan.c_str(), "top"}, Use{"plan_jobs", plan.c_str(), "jobs"},
                    Use{"plan_simulate", plan.c_str(), "simulate"}, Use{"sweep_jobs", sweep.c_str(), "jobs"},
                    Use{"validate_jobs", "validate", "jobs"}, Use{"topology_nodes", "topology frontier", "nodes"},
                    Use{"volume_rank", volume.c_str(), "rank"}, Use{"volume_steps", volume.c_str(), "steps"},
                    Use{"collective_ranks", collective, "ranks"},
                    Use{"collective_channels", ranked.c_str(), "channels"},
                    Use{"collective_groups", ranked.c_str(), "groups"},
                    Use{"collective_ranks_per_node", ranked.c_str(), "ranks-per-node"},
                    Use{"calibrate_ranks", "calibrate --machine frontier /dev/null", "ranks"},
                    Use{"calibrate_nodes", "calibrate --machine frontier /dev/null", "nodes"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(count_options, are_bounded_where_each_costs_memory) {
    const test::Ran channels = test::run_weft(ranked + " --channels 99999999");
    EXPECT_EQ(channels.exit_code, 2);
    EXPECT_NE(channels.err.find("at most 1024 (more than any library opens)"), std::string::npos) << channels.err;
    const test::Ran jobs = test::run_weft("validate --jobs 99999999");
    EXPECT_EQ(jobs.exit_code, 2);
    EXPECT_NE(jobs.err.find("at most 1024 (each is a thread)"), std::string::npos) << jobs.err;
    const test::Ran steps = test::run_weft(volume + " --steps 99999999");
    EXPECT_EQ(steps.exit_code, 3);
    EXPECT_NE(steps.err.find("at most 10000000 calls are logged"), std::string::npos) << steps.err;
}

}  // namespace
}  // namespace weft
