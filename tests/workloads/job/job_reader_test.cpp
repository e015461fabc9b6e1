// Jobs as files: defaults, what follows from what, and that no input does worse than be refused.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include "tests/mutated.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {
namespace {

Study read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    Document document = Document::parse("job.json", text);
    for (const std::string& assignment : overrides) document.assign(assignment);
    return read_study(std::move(document));
}

std::string mistakes(const std::string& text) {
    try {
        read(text);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

// The keys that the reader accepts in an object that is assigned so and has an unknown key "zz" at `path`.
std::vector<std::string> accepted(const std::string& assignment, const std::string& path) {
    const std::string text = test::mistakes(assignment), before = path + ": unknown key (this object accepts: ";
    const std::size_t at = text.find(before);
    if (at == std::string::npos) return {};
    const std::size_t first = at + before.size();
    std::istringstream list(text.substr(first, text.find(')', first) - first));
    std::vector<std::string> keys;
    for (std::string key; std::getline(list >> std::ws, key, ',');) keys.push_back(key);
    return keys;
}

// As "`key`", ".key`", "`key.inner`" or, in an example, "\"key\"".
void expect_documented(const std::string& page, const std::vector<std::string>& keys, const std::string& path) {
    for (const std::string& key : keys) {
        EXPECT_TRUE(std::regex_search(page, std::regex("[`.\"]" + key + "[`.\"]"))) << path << " accepts " << key;
        const std::string inner = path + key;
        if (inner == "machine") continue;  // machine files have many readers; the page tells how to change one
        expect_documented(page, accepted(inner + R"(={"zz": 1})", inner + ".zz"), inner + ".");
        expect_documented(page, accepted(inner + R"(=[{"zz": 1}])", inner + "[0].zz"), inner + "[0].");
    }
}

TEST(job_reader, accepts_no_key_that_its_page_does_not_have) {
    std::ifstream file(WEFT_SOURCE_DIR "/workloads/jobs/README.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const std::vector<std::string> keys = accepted("zz=1", "zz");
    EXPECT_GT(keys.size(), 20U);
    EXPECT_GT(accepted(R"(deepspeed={"zz": 1})", "deepspeed.zz").size(), 10U);
    EXPECT_GT(accepted(R"(faults.links=[{"zz": 1}])", "faults.links[0].zz").size(), 4U);
    expect_documented(page, keys, "");
}

// A host is the machine's, and what it costs need not be the device file's; a machine without one may say that alone.
TEST(job_reader, operations_of_the_host_cost_what_the_machine_says) {
    const auto cost = [](const std::string& machine) {
        return read(R"({"model": "gpt-neox-19m", "batch": {"global": 4}, "machine": )" + machine + "}")
            .device.host_launch;
    };
    const std::string slow = R"("host": {"operation": {"value": "40 us", "source": "test"}}})";
    EXPECT_EQ(cost(R"({"extends": "dgx-h100", )" + slow), Seconds{40e-6});
    EXPECT_EQ(cost(R"({"extends": "gb200-nvl72", )" + slow), Seconds{40e-6});
    EXPECT_EQ(cost(R"("dgx-h100")"), Seconds{27e-6});
}

TEST(job_reader, fills_in_sensible_defaults) {
    const Job job = read(R"({"machine": "frontier", "model": "gpt-neox-19m", "batch": {"global": 4}})").job;
    EXPECT_EQ(job.framework->name, "deepspeed");
    EXPECT_EQ(job.schedule->key, "1f1b");
    EXPECT_EQ(job.layout.ranks(), 1U);
    EXPECT_EQ(job.nodes, 1U);
    EXPECT_EQ(job.batch.sequence, 2048U);
    EXPECT_EQ(job.micro_batches(), 4U);
    EXPECT_EQ(job.precision, Precision::bf16);
    EXPECT_EQ(job.recompute, Recompute::none);
}

TEST(job_reader, hands_the_kernels_of_a_program_to_its_shards) {
    const Job job = read(R"({"machine": "frontier", "model": "gpt-neox-19m", "batch": {"global": 4},
                             "attention": "triton", "element_wise": "unfused"})")
                        .job;
    EXPECT_EQ(job.shard().attention, AttentionCore::triton);
    EXPECT_EQ(job.shard().element_wise, ElementWise::unfused);
    const std::string mistake =
        mistakes(R"({"machine": "frontier", "model": "gpt-neox-19m", "batch": {"global": 4}, "element_wise": "fuse"})");
    EXPECT_NE(mistake.find("element_wise"), std::string::npos) << mistake;
}

TEST(job_reader, nodes_without_data_ranks_fill_the_nodes) {
    const Job job = read(R"({"machine": "frontier", "nodes": 4, "model": "gpt-neox-19m",
                             "layout": {"tensor": 2, "pipeline": 2}, "batch": {"global": 8}})")
                        .job;
    EXPECT_EQ(job.layout.data, 8U);
}

TEST(job_reader, ranks_without_nodes_take_as_many_as_they_need) {
    EXPECT_EQ(
        read(R"({"machine": "frontier", "model": "gpt-neox-19m", "layout": {"data": 17}, "batch": {"global": 17}})")
            .job.nodes,
        3U);
}

TEST(job_reader, a_model_file_is_found_from_the_folder_of_the_job) {
    const test::TemporaryFolder temporary;
    const std::string folder = temporary.path();
    std::ofstream(folder + "/own.json") << R"({"layers": 3, "hidden": 64, "heads": 4, "vocabulary": 1000})";
    std::ofstream(folder + "/job.json") << R"({"machine": "frontier", "model": "own.json", "batch": {"global": 4}})";
    EXPECT_EQ(load_study(folder + "/job.json").job.model.layers, 3U);
}

// The machine's device is read last, and told with everything else.
TEST(job_reader, a_device_that_is_none_is_a_mistake_of_the_machine) {
    const std::string text = mistakes(
        R"({"machine": {"extends": "frontier", "device": "mi250x"}, "model": "gpt-neox-19m", "zero": 4,
            "layout": {"data": 8}, "batch": {"global": 8}})");
    EXPECT_NE(text.find("machine: unknown device \"mi250x\", did you mean \"mi250x-gcd\""), std::string::npos) << text;
    EXPECT_NE(text.find("zero: expected a ZeRO stage from 0 to 3, got 4"), std::string::npos) << text;
}

TEST(job_reader, empty_nodes_are_named) {
    EXPECT_NE(
        mistakes(
            R"({"machine": "frontier", "nodes": 16, "model": "gpt-neox-19m", "layout": {"data": 8}, "batch": {"global": 8}})")
            .find("leave nodes empty"),
        std::string::npos);
}

TEST(job_reader, sizes_beyond_reason_are_refused_with_the_numbers) {
    EXPECT_NE(
        mistakes(
            R"({"machine": "frontier", "model": "gpt-neox-19m", "layout": {"tensor": 4294967295}, "batch": {"global": 8}})")
            .find("expected at most 1048576 ranks"),
        std::string::npos);
    EXPECT_NE(mistakes(R"({"machine": "frontier", "model": "gpt-neox-19m", "batch": {"global": 4294967295}})")
                  .find("operations"),
              std::string::npos);
}

// Any value anywhere: either a plan comes out, or a ConfigError.
RC_GTEST_PROP(job_reader, any_override_is_planned_or_refused, ()) {
    static const std::vector<std::string> keys{"machine",
                                               "nodes",
                                               "model",
                                               "model.layers",
                                               "model.hidden",
                                               "model.heads",
                                               "model.vocabulary",
                                               "framework",
                                               "layout",
                                               "layout.tensor",
                                               "layout.pipeline",
                                               "layout.data",
                                               "layout.order",
                                               "layout.split",
                                               "batch",
                                               "batch.sequence",
                                               "batch.micro",
                                               "batch.global",
                                               "zero",
                                               "schedule",
                                               "recompute",
                                               "precision",
                                               "attention",
                                               "bucket_elements",
                                               "overlap_gradients",
                                               "nonsense"};
    static const std::vector<std::string> values{"0",
                                                 "1",
                                                 "2",
                                                 "3",
                                                 "7",
                                                 "8",
                                                 "64",
                                                 "1000",
                                                 "4294967295",
                                                 "99999999999999999999",
                                                 "-1",
                                                 "1.5",
                                                 "1e3",
                                                 "1e300",
                                                 "true",
                                                 "null",
                                                 "[]",
                                                 "{}",
                                                 "[1,2]",
                                                 "frontier",
                                                 "dgx-a100",
                                                 "gpt-neox-20b",
                                                 "llama3-405b",
                                                 "full",
                                                 "fp16",
                                                 "gpipe",
                                                 "deepspeed",
                                                 "pipeline,data,tensor",
                                                 "",
                                                 "/",
                                                 "..",
                                                 "{\"layers\":1}"};
    std::vector<std::string> overrides;
    const int count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i) overrides.push_back(*rc::gen::elementOf(keys) + "=" + *rc::gen::elementOf(values));
    try {
        const Plan plan = make_plan(test::small_study(overrides));
        RC_ASSERT(plan.stages.size() == plan.job.layout.pipeline);
        RC_ASSERT(plan.hardware_flops.value > 0);
    } catch (const ConfigError& error) {
        RC_ASSERT(!error.diagnostics().empty());
    }
}

// Broken text: characters of a good job dropped, inserted or replaced.
RC_GTEST_PROP(job_reader, broken_text_is_refused_and_nothing_worse, ()) {
    const std::string good = R"({"machine": "frontier", "model": "gpt-neox-125m", "layout": {"tensor": 2, "data": 4},
                           "batch": {"micro": 2, "global": 16}, "zero": 1, "precision": "fp16"})";
    const std::string text = test::mutated(good, 5, rc::gen::arbitrary<char>());
    try {
        make_plan(read(text));
    } catch (const ConfigError& error) {
        RC_ASSERT(!error.diagnostics().empty());
    }
}

// Products of 32-bit sizes wrap round to 0, and something is divided by them.
TEST(job_reader, sizes_whose_product_leaves_32_bits_are_mistakes) {
    const std::string good = R"({"machine": "frontier", "model": "gpt-neox-19m", "batch": {"global": 4}})";
    const auto of = [&](const std::vector<std::string>& overrides) -> std::string {
        try {
            read(good, overrides);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "";
    };
    const auto expect = [&](const std::vector<std::string>& overrides, std::string_view message) {
        EXPECT_NE(of(overrides).find(message), std::string::npos) << of(overrides);
    };
    expect({"batch.micro=2147483648", "layout.data=2"}, "2 x 2147483648 = 4294967296 does not divide 4");
    expect({"layout.tensor=65536", "layout.context=65536"},
           "layout: context 65536 x data 1 x pipeline 1 x tensor 65536");
    expect({"layout.expert=1048576", "layout.expert_tensor=1048576"}, "expert 1048576 x expert_tensor 1048576");
    expect({"layout.pipeline=65536", "layout.virtual_stages=65536"}, "pipeline 65536 x virtual_stages 65536");
    expect({"nodes=536870912"}, "frontier has 9408 nodes");
}

}  // namespace
}  // namespace weft
