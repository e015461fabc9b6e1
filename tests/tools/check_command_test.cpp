// `weft check` from outside: jobs, machines, and what is neither.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

TEST(check_command, of_a_machine_says_what_its_libraries_serve) {
    const test::Ran ran = test::run_weft("check frontier");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out.substr(0, ran.out.find('\n')), "frontier: fine: 9408 nodes of 8 accelerators (mi250x-gcd)");
    for (const char* part :
         {"rccl", "cray-mpich", "deepspeed", "megatron", "fsdp", "ddp", "Ulysses", "expert", "yes", "-"}) {
        EXPECT_NE(ran.out.find(part), std::string::npos) << part;
    }
}

TEST(check_command, names_what_a_machine_file_and_a_job_on_it_lack) {
    const test::TemporaryFolder folder;
    std::string machine = test::read_file(WEFT_SOURCE_DIR "/topologies/machines/dgx-h100.json");
    std::size_t rows = 0;  // all-reduce goes
    for (std::size_t at = 0; (at = machine.find("{ \"algorithm\"", at)) != std::string::npos; ++rows) {
        const std::size_t named = machine.find("\"operations\"", at), end = machine.find('}', at);
        if (named < end) {
            machine.replace(named, machine.find(']', named) + 1 - named, R"("operations": ["all_gather"])");
            at = machine.find('}', at);
        } else {
            machine.insert(at + 2, R"("operations": ["all_gather"], )");
            at = machine.find('}', at);
        }
    }
    ASSERT_GT(rows, 0U);
    const std::filesystem::path path = folder.path() / "gathers.json";
    std::ofstream(path) << machine;
    const test::Ran served = test::run_weft("check " + path.string());
    EXPECT_EQ(served.exit_code, 0) << served.err;
    EXPECT_NE(served.out.find("no all_reduce"), std::string::npos) << served.out;
    for (const char* command : {"check ", "simulate "}) {
        const test::Ran job = test::run_weft(std::string(command) +
                                             "workloads/jobs/dgx-a100-gpt-22b.json --set machine=" + path.string());
        EXPECT_EQ(job.exit_code, 3) << job.err;
        EXPECT_NE(job.err.find("megatron calls all_reduce, for which "), std::string::npos) << job.err;
    }
}

TEST(check_command, takes_no_overrides_of_a_machine_and_nothing_without_an_end) {
    EXPECT_EQ(test::run_weft("check frontier --set nodes=1").exit_code, 2);
    const test::Ran endless = test::run_weft("check /dev/zero");
    EXPECT_EQ(endless.exit_code, 3);
    EXPECT_EQ(endless.err, "/dev/zero: error: has more than 64 MiB: not an input\n");
}

}  // namespace
}  // namespace weft
