// `weft simulate` from outside: the contract of its JSON, its exit codes, its files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

constexpr const char* job = "workloads/jobs/frontier-gpt-neox-20b-3d.json";

SortedJson simulate(const std::string& arguments) {
    const test::Ran ran = test::run_weft("simulate " + arguments + " --json");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.err, "") << "stderr is for progress and mistakes";
    return SortedJson::parse(ran.out);
}

TEST(simulate, json_has_the_keys_that_others_rely_on) {
    const SortedJson report = simulate(job);
    for (const char* path :
         {"/step/time_s", "/step/compute_s", "/step/exposed_communication_s", "/step/bubble_s",
          "/throughput/tokens_per_s", "/throughput/model_tflops_per_gpu", "/throughput/hardware_tflops_per_gpu",
          "/throughput/mfu", "/memory/peak_bytes", "/memory/capacity_bytes", "/simulation/ranks", "/simulation/events",
          "/simulation/wall_s"}) {
        ASSERT_TRUE(report.contains(SortedJson::json_pointer(path))) << path;
        EXPECT_TRUE(report.at(SortedJson::json_pointer(path)).is_number()) << path;
    }
    EXPECT_TRUE(report.at("memory").at("fits").is_boolean());
    for (const SortedJson& row : report.at("communication")) {
        for (const char* key : {"dimension", "op", "group_size", "calls", "bytes", "time_s", "exposed_s"}) {
            EXPECT_TRUE(row.contains(key)) << key;
        }
    }
    for (const SortedJson& row : report.at("links")) EXPECT_TRUE(row.contains("class") && row.contains("utilization"));
    EXPECT_EQ(report.at("simulation").at("ranks"), 128);
}

// Calls of a row are those of its messages; what carries them is what `weft collective` chooses for as many ranks.
TEST(simulate, says_what_carries_each_call_and_how_fast) {
    const SortedJson report = simulate(job);
    for (const SortedJson& row : report.at("communication")) {
        double calls = 0, time = 0;
        for (const SortedJson& each : row.at("by_message")) {
            calls += each.at("calls").get<double>();
            time += each.at("time_s").get<double>();
            EXPECT_FALSE(each.at("algorithm").get<std::string>().empty());
            EXPECT_FALSE(each.at("protocol").get<std::string>().empty());
            EXPECT_GE(each.at("channels"), 1);
            const double factor = row.at("op") == "all_reduce" ? 2 * (1 - 1 / row.at("group_size").get<double>()) : 0;
            if (factor == 0) continue;
            const double bytes = each.at("message_bytes").get<double>() * each.at("calls").get<double>();
            EXPECT_NEAR(each.at("busbw"), bytes * factor / each.at("time_s").get<double>(), 1e-6 * bytes / time);
        }
        EXPECT_NEAR(calls, row.at("calls"), 1e-9 * calls) << row;
        EXPECT_NEAR(time, row.at("time_s"), 1e-9 * time) << row;
    }
    const SortedJson& tensor = report.at("communication").at(0);
    ASSERT_EQ(tensor.at("dimension"), "tensor");
    const SortedJson& call = tensor.at("by_message").back();
    const test::Ran alone = test::run_weft("collective " + tensor.at("op").get<std::string>() +
                                           " --machine frontier --ranks 4 --json --sizes " +
                                           std::to_string(call.at("message_bytes").get<std::int64_t>()));
    const SortedJson expected = SortedJson::parse(alone.out).at("rows").at(0);
    for (const char* key : {"algorithm", "protocol", "channels"}) EXPECT_EQ(call.at(key), expected.at(key)) << key;
}

// What the record says of this kind is for validity_test.cpp.
TEST(simulate, says_how_far_to_trust_it) {
    const SortedJson validation = simulate(job).at("validation");
    EXPECT_EQ(validation.at("job").at("device"), "mi250x-gcd");
    EXPECT_EQ(validation.at("job").at("ranks"), 128);
    EXPECT_TRUE(validation.at("step_time").at("validated").get<bool>());
    EXPECT_GT(validation.at("step_time").at("mean").get<double>(), 0);
    const std::string text =
        test::run_weft(std::string("simulate ") + job + " --set machine=aurora --set nodes=null").out;
    EXPECT_NE(text.find("step time  not validated: not measured on pvc-stack\n"), std::string::npos) << text;
}

TEST(simulate, times_of_a_step_add_up) {
    const SortedJson step = simulate(job).at("step");
    const double parts = step.at("compute_s").get<double>() + step.at("exposed_communication_s").get<double>() +
                         step.at("bubble_s").get<double>() + step.at("imbalance_s").get<double>();
    EXPECT_NEAR(parts, step.at("time_s").get<double>(), 1e-9 * parts);
}

TEST(simulate, tokens_and_flops_follow_from_the_step_time) {
    const SortedJson report = simulate(job);
    const double time = report.at("step").at("time_s");
    EXPECT_DOUBLE_EQ(report.at("throughput").at("tokens_per_s").get<double>(), 1024 * 2048 / time);
    EXPECT_NEAR(report.at("throughput").at("mfu").get<double>(),
                report.at("throughput").at("model_tflops_per_gpu").get<double>() / 191.5, 1e-12);
}

// (p - 1) / (m + p - 1) = 3 / 35 of a step with equal stages. GPT-NeoX deals 11, 12, 11 and 10 layers: the busiest
// stage then waits for lighter ones, 3 x 32/3 instead of 3 x 12 layers, and the rest of the waiting is imbalance.
TEST(simulate, free_communication_leaves_the_pipeline_bubble) {
    const SortedJson even = simulate(std::string(job) + " --network free --set layout.split=even").at("step");
    EXPECT_EQ(even.at("exposed_communication_s"), 0.0);
    EXPECT_NEAR(even.at("bubble_s").get<double>() / even.at("time_s").get<double>(), 3.0 / 35, 0.01);
    const SortedJson neox = simulate(std::string(job) + " --network free").at("step");
    const double lighter = (11 + 11 + 10) / 12.0;  // slots of the others in units of the busiest stage's
    EXPECT_NEAR(neox.at("bubble_s").get<double>() / neox.at("time_s").get<double>(), lighter / (32 + lighter), 0.005);
}

TEST(simulate, says_what_is_modelled_and_cannot_be_run) {
    const test::TemporaryFolder folder;
    const std::string page = (folder.path() / "step.html").string(), why = "gpipe is not in DeepSpeed, which runs 1f1b";
    const std::string modelled = std::string(job) + " --set schedule=gpipe --allow-oom";
    const test::Ran ran = test::run_weft("simulate " + modelled + " --report " + page);
    EXPECT_NE(ran.out.find("modelled, cannot be run: " + why), std::string::npos) << ran.out;
    EXPECT_NE(test::read_file(page).find("Modelled, cannot be run: " + why), std::string::npos);
    EXPECT_EQ(simulate(modelled).at("job").at("runnable"), "modelled: " + why);
    EXPECT_EQ(simulate(job).at("job").at("runnable"), true);
}

// 10T parameters with experts on 131,072 GPUs: what is simulated fits in a second (bench/README.md times it).
TEST(simulate, a_model_of_ten_trillion_parameters_is_little_work) {
    const SortedJson simulation = simulate("bench/jobs/spectrum-x-moe-10t.json").at("simulation");
    EXPECT_LE(simulation.at("classes"), 16);
    EXPECT_LT(simulation.at("events"), 300'000);
}

TEST(simulate, two_runs_differ_in_nothing_but_wall_time) {
    SortedJson first = simulate(job), second = simulate(job);
    first.at("simulation").erase("wall_s");
    second.at("simulation").erase("wall_s");
    EXPECT_EQ(first.dump(), second.dump());
}

TEST(simulate, sets_keys_from_the_command_line) {
    const SortedJson report = simulate(std::string(job) + " --set batch.global=256 --set schedule=gpipe");
    EXPECT_NE(report.at("job").at("text").get<std::string>().find("8 micro-batches of 4, ZeRO 1, gpipe"),
              std::string::npos);
}

TEST(simulate, names_a_bad_override) {
    const test::Ran ran = test::run_weft(std::string("simulate ") + job + " --set layout.tensr=8");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.err.find("layout.tensr"), std::string::npos);
    EXPECT_NE(ran.err.find("did you mean \"tensor\""), std::string::npos);
}

TEST(simulate, a_missing_file_is_bad_input) {
    const test::Ran ran = test::run_weft("simulate nowhere.json");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.err.find("nowhere.json"), std::string::npos);
}

TEST(simulate, failure_leaves_earlier_outputs_alone) {
    const test::TemporaryFolder folder;
    const std::string trace = (folder.path() / "step.json").string();
    std::ofstream(trace) << "earlier";
    const test::Ran ran = test::run_weft(std::string("simulate ") + job + " --set layout.tensor=7 --trace " + trace);
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_EQ(test::read_file(trace), "earlier");
}

// The trace of every rank takes seconds to write.
TEST(simulate, a_trace_that_is_interrupted_leaves_earlier_outputs_alone_and_nothing_beside) {
    const test::TemporaryFolder folder;
    const std::string trace = (folder.path() / "step.json").string();
    std::ofstream(trace) << "earlier";
    int interrupted = 0;
    for (const char* delay : {"0.1", "0.2", "0.3", "0.5", "0.9", "1.5", "3"}) {
        const std::string command = std::string("cd '" WEFT_SOURCE_DIR "' && timeout -s INT ") + delay +
                                    " '" WEFT_PROGRAM "' simulate " + job + " --no-fold --set batch.global=4096 " +
                                    "--trace " + trace + " > /dev/null 2>&1";
        const int code = WEXITSTATUS(std::system(command.c_str()));
        if (code == 0) break;  // it was over before
        ASSERT_EQ(code, 124) << "not interrupted";
        const auto files = std::distance(std::filesystem::directory_iterator(folder.path()), {});
        EXPECT_EQ(files, 1) << "after " << delay << " s";
        const std::string found = test::read_file(trace);
        if (found != "earlier") {  // the signal came when all was written
            EXPECT_TRUE(found.ends_with("]}\n"));
            break;
        }
        ++interrupted;
    }
    EXPECT_GT(interrupted, 0);
}

TEST(simulate, says_what_it_would_take) {
    const test::Ran text = test::run_weft(std::string("simulate ") + job + " --dry-run");
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_EQ(text.out.rfind("simulating takes about ", 0), 0) << text.out;
    EXPECT_NE(text.out.find("32 rank classes for 128 ranks"), std::string::npos) << text.out;
    const SortedJson said = simulate(std::string(job) + " --dry-run").at("simulation");
    const SortedJson found = simulate(job).at("simulation");
    for (const char* key : {"ranks", "classes", "folding"}) EXPECT_EQ(said.at(key), found.at(key)) << key;
    EXPECT_GT(said.at("memory_bytes").get<double>(), 1e6);
}

TEST(simulate, refuses_what_takes_more_memory_than_it_may_and_says_what_would_fit) {
    const std::string unfolded = std::string("simulate ") + job + " --no-fold";
    const test::Ran refused = test::run_weft(unfolded + " --memory-limit 20MiB");
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_EQ(refused.out, "");
    EXPECT_NE(refused.err.find("may take 20.0 MiB"), std::string::npos) << refused.err;
    for (const char* way : {"--fold exact: about", "--fold stages: about", "--set batch.global="}) {
        const std::size_t found = refused.err.find(way);
        ASSERT_NE(found, std::string::npos) << refused.err;
        const std::string line = refused.err.substr(found, refused.err.find_first_of(":(", found) - found);
        EXPECT_EQ(test::run_weft("simulate " + std::string(job) + (way[2] == 's' ? " --no-fold " : " ") + line +
                                 " --memory-limit 20MiB")
                      .exit_code,
                  0)
            << line;
    }
    EXPECT_EQ(test::run_weft(unfolded + " --memory-limit 1GiB").exit_code, 0);
    EXPECT_EQ(test::run_weft(unfolded + " --memory-limit much").exit_code, 2);
}

TEST(simulate, compares_contention_with_the_ideal_network) {
    const SortedJson both = simulate(std::string(job) + " --compare").at("step.time_s");
    EXPECT_GT(both.at("flow").get<double>(), both.at("ideal").get<double>());
    EXPECT_DOUBLE_EQ(both.at("flow").get<double>(), simulate(job).at("step").at("time_s").get<double>());
    EXPECT_EQ(test::run_weft(std::string("simulate ") + job + " --compare --trace step.json").exit_code, 2);
}

TEST(simulate, writes_only_formats_that_it_knows) {
    EXPECT_EQ(test::run_weft(std::string("simulate ") + job + " --trace step.trace").exit_code, 2);
    const test::Ran ran = test::run_weft(std::string("simulate ") + job + " --report step.png");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.err.find("ends in .html"), std::string::npos) << ran.err;
}

TEST(simulate, writes_the_same_page_every_time) {
    const test::TemporaryFolder folder;
    const auto page = [&](const std::string& name, const std::string& options) {
        const std::string path = (folder.path() / name).string();
        const test::Ran ran = test::run_weft(std::string("simulate ") + job + options + " --report " + path);
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        return test::read_file(path);
    };
    const std::string options = " --set batch.global=64 --set 'layout.order=\"tensor,data,pipeline\"'";
    const std::string first = page("a.html", options);
    EXPECT_EQ(first, page("a.html", options));
    EXPECT_NE(first.find("--set</span> <span>'batch.global=64'"), std::string::npos) << "says how it was made";
    EXPECT_EQ(test::run_weft(std::string("simulate ") + job + " --report page.pdf").exit_code, 2);
    const test::Ran both = test::run_weft(std::string("simulate ") + job + " --compare --report page.html");
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_NE(both.err.find("--compare runs both networks"), std::string::npos);
}

TEST(simulate, an_output_that_cannot_be_written_is_said_so) {
    const test::Ran ran = test::run_weft(std::string("simulate ") + job + " --report /nowhere/step.html");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.err.find("/nowhere/step.html"), std::string::npos) << ran.err;
}

TEST(simulate, refuses_what_does_not_fit_unless_told) {
    const std::string large = std::string(job) + " --set zero=0 --set layout.data=1 --set nodes=2 --set batch.micro=64";
    const test::Ran refused = test::run_weft("simulate " + large);
    EXPECT_EQ(refused.exit_code, 4) << refused.err;
    EXPECT_NE(refused.err.find("GiB of 64.0 GiB"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("measured runs of this kind:\n  memory "), std::string::npos) << refused.err;
    EXPECT_EQ(refused.out, "");
    const test::Ran allowed = test::run_weft("simulate " + large + " --allow-oom --json");
    EXPECT_EQ(allowed.exit_code, 0);
    EXPECT_FALSE(SortedJson::parse(allowed.out).at("memory").at("fits").get<bool>());
}

TEST(simulate, json_of_what_does_not_fit_has_its_memory_and_no_times) {
    const std::string large = std::string(job) + " --set zero=0 --set layout.data=1 --set nodes=2 --set batch.micro=64";
    const test::Ran refused = test::run_weft("simulate --json " + large);
    EXPECT_EQ(refused.exit_code, 4) << refused.err;
    SortedJson report = SortedJson::parse(refused.out);
    const SortedJson allowed = SortedJson::parse(test::run_weft("simulate --json --allow-oom " + large).out);
    EXPECT_EQ(report.at("memory"), allowed.at("memory"));
    EXPECT_FALSE(report.at("memory").at("fits").get<bool>());
    EXPECT_EQ(report.at("job"), allowed.at("job"));
    EXPECT_TRUE(report.at("step").is_null() && report.at("throughput").is_null());
    ASSERT_EQ(report.at("stages").size(), 4U);
    EXPECT_EQ(report.at("stages").at(3).at("memory"), allowed.at("stages").at(3).at("memory"));
}

TEST(simulate, every_shipped_job_runs) {
    for (const auto& entry : std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/workloads/jobs")) {
        if (entry.path().extension() != ".json") continue;
        const SortedJson report = simulate(entry.path().string());
        EXPECT_GT(report.at("step").at("time_s").get<double>(), 0) << entry.path();
        EXPECT_TRUE(report.at("memory").at("fits").get<bool>()) << entry.path();
    }
}

}  // namespace
}  // namespace weft
