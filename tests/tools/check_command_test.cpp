// `weft check` from outside: jobs, machines, and what is neither.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using nlohmann::json;

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
    const std::filesystem::path path = folder.path() / "gathers.json";  // all-reduce goes
    std::ofstream(path) << R"({ "extends": "dgx-h100", "libraries": [ { "extends": "infiniband-nccl-h100", "costs": {
        "ring_ll": { "operations": ["all_gather"] }, "ring_ll128": null, "ring_simple": { "operations": ["all_gather"] },
        "tree_ll": null, "tree_ll128": null, "tree_simple": null, "nvls_simple": null, "nvls_tree_simple": null } } ] })";
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

json check_json(const std::string& arguments, int exit_code) {
    const test::Ran ran = test::run_weft("check --json " + arguments);
    EXPECT_EQ(ran.exit_code, exit_code) << ran.out << ran.err;
    return json::parse(ran.out);
}

TEST(check_command, tells_programs_what_it_tells_people) {
    const json job = check_json("workloads/jobs/dgx-a100-gpt-22b.json", 0);
    EXPECT_EQ(job.at("ok"), true);
    EXPECT_EQ(job.at("kind"), "job");
    EXPECT_EQ(job.at("diagnostics"), json::array());
    EXPECT_EQ(job.at("memory").at("fits"), true);
    EXPECT_LT(job.at("memory").at("peak_bytes"), job.at("memory").at("capacity_bytes"));
    EXPECT_EQ(job.at("job").at("model").at("name"), "megatron-22b");

    const json machine = check_json("Frontier", 0);
    EXPECT_EQ(machine.at("kind"), "machine");
    EXPECT_EQ(machine.at("machine").at("nodes"), 9408);
    const json row = machine.at("machine").at("serves").at(0);
    EXPECT_EQ(row.at("library"), "rccl");
    EXPECT_EQ(row.at("kinds").at("data"),
              json({{"served", true}, {"framework_has_it", true}, {"missing", json::array()}}));

    const json model = check_json("deepseek-ai/DeepSeek-V3", 0);
    EXPECT_EQ(model.at("kind"), "model");
    EXPECT_EQ(model.at("model").at("parameters"), 671026404352);
    EXPECT_LT(model.at("model").at("active_parameters"), 38'000'000'000);
    EXPECT_EQ(check_json("models/catalog/llama2-7b.json", 0).at("kind"), "model");
    EXPECT_EQ(check_json("topologies/machines/vista.json", 0).at("kind"), "machine");
}

TEST(check_command, takes_what_extends_another_for_what_that_is) {
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "half.json") << R"({"extends": "meta-llama/Llama-3.1-8B", "layers": 16})";
    std::ofstream(folder.path() / "quarter.json") << R"({"extends": "half.json", "layers": 8})";
    std::ofstream(folder.path() / "mine.json") << R"({"extends": "DGX H100", "nodes": 64})";
    std::ofstream(folder.path() / "round.json") << R"({"extends": "round.json"})";
    const json model = check_json((folder.path() / "quarter.json").string(), 0);
    EXPECT_EQ(model.at("kind"), "model");
    EXPECT_EQ(model.at("model").at("layers"), 8);
    EXPECT_EQ(model.at("model").at("hidden"), 4096);
    const json machine = check_json((folder.path() / "mine.json").string(), 0);
    EXPECT_EQ(machine.at("kind"), "machine");
    EXPECT_EQ(machine.at("machine").at("nodes"), 64);
    check_json((folder.path() / "round.json").string(), 3);
}

TEST(check_command, tells_programs_of_every_mistake) {
    const json absent = check_json("no-such-job.json", 3);
    EXPECT_EQ(absent.at("ok"), false);
    EXPECT_EQ(absent.at("diagnostics").size(), 1U);
    const test::TemporaryFolder folder;
    std::ofstream(folder.path() / "job.json") << R"({"machine": "frontier", "model": "gpt-neox-20b",
  "layout": {"tp": 4}, "recompte": "full", "batch": {"global": 8}})";
    const json found = check_json((folder.path() / "job.json").string(), 3);
    EXPECT_EQ(found.at("kind"), "job");
    ASSERT_EQ(found.at("diagnostics").size(), 2U) << found;
    const json& first = found.at("diagnostics")[0];
    EXPECT_EQ(first.at("file"), (folder.path() / "job.json").string());
    EXPECT_EQ(first.at("line"), 2);
    EXPECT_EQ(first.at("column"), 14);
    EXPECT_EQ(first.at("key"), "layout.tp");
    EXPECT_EQ(first.at("suggestion"), "layout.tensor");
    EXPECT_EQ(found.at("diagnostics")[1].at("suggestion"), "recompute");

    const json full = check_json(
        "workloads/jobs/dgx-a100-gpt-22b.json --set layout.tensor=1 --set layout.pipeline=1 --set batch.global=32", 4);
    EXPECT_EQ(full.at("ok"), false);
    EXPECT_EQ(full.at("memory").at("fits"), false);
    EXPECT_GT(full.at("memory").at("least_bytes"), full.at("memory").at("capacity_bytes"));
    EXPECT_EQ(full.at("diagnostics").size(), 1U);
}

}  // namespace
}  // namespace weft
