// DeepSpeed's configuration: DeepSpeed's own defaults, and keys that a stage does not read.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "workloads/formats/format.hpp"

namespace weft {
namespace {

using nlohmann::json;

FormatOptions one_node() { return {.machine = "frontier", .nodes = 1, .model = "gpt-neox-1.3b"}; }

Import deepspeed_import(const std::string& text, const FormatOptions& options = one_node()) {
    const std::vector<SourceFile> files{{"ds.json", text}};
    return import_files(format_of(files, ""), files, options);
}

json deepspeed_object(const std::string& text) { return json::parse(deepspeed_import(text).object.json()); }

std::string deepspeed_refusal(const std::string& text, const FormatOptions& options = one_node()) {
    try {
        deepspeed_import(text, options);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return {};
}

std::string with_zero(const std::string& zero) {
    return R"({"train_micro_batch_size_per_gpu": 2, "bf16": {"enabled": true}, "zero_optimization": {)" + zero + "}}";
}

TEST(deepspeed_format, two_of_batch_micro_batch_and_steps_give_the_third) {
    EXPECT_EQ(deepspeed_object(R"({"train_batch_size": 64, "gradient_accumulation_steps": 4})")["batch"],
              json({{"micro", 2}, {"global", 64}}));
    EXPECT_EQ(deepspeed_object(R"({"train_micro_batch_size_per_gpu": "3", "zero_optimization": {}})")["batch"],
              json({{"micro", 3}, {"global", 24}}));
    const Import contradiction = deepspeed_import(
        R"({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 3})");
    EXPECT_TRUE(std::ranges::any_of(contradiction.notes, [](const FormatNote& note) {
        return note.message.find("would be 48") != std::string::npos;
    }));
}

TEST(deepspeed_format, nothing_overlaps_below_stage_3_unless_said) {
    EXPECT_EQ(deepspeed_object(with_zero(R"("stage": 2)"))["overlap_gradients"], false);
    EXPECT_EQ(deepspeed_object(with_zero(R"("stage": 2, "overlap_comm": true)"))["overlap_gradients"], true);
    EXPECT_EQ(deepspeed_object(with_zero(R"("stage": 3)"))["overlap_gradients"], true);
}

TEST(deepspeed_format, what_a_stage_does_not_read_has_no_effect) {
    const Import import = deepspeed_import(with_zero(
        R"("stage": 1, "stage3_max_live_parameters": 7, "sub_group_size": 1e8, "reduce_bucket_size": "2e8")"));
    const json job = json::parse(import.object.json());
    EXPECT_EQ(job["bucket_elements"], 2e8);
    EXPECT_FALSE(job.contains("deepspeed"));
    EXPECT_TRUE(std::ranges::any_of(import.without_effect, [](const Origin& origin) {
        return origin.key == "zero_optimization.stage3_max_live_parameters";
    }));
    const json none = deepspeed_object(with_zero(R"("stage": 0, "overlap_comm": true, "reduce_scatter": false)"));
    EXPECT_FALSE(none.contains("overlap_gradients"));
    EXPECT_EQ(deepspeed_object(with_zero(R"("stage": 3, "sub_group_size": 1e8)"))["deepspeed"]["sub_group_elements"],
              1e8);
}

TEST(deepspeed_format, timers_make_the_host_wait) {
    const json job = deepspeed_object(R"({"train_micro_batch_size_per_gpu": 2, "wall_clock_breakdown": true})");
    EXPECT_EQ(job["deepspeed"]["wall_clock_breakdown"], true);
    EXPECT_FALSE(deepspeed_object(R"({"train_micro_batch_size_per_gpu": 2, "wall_clock_breakdown": false})")
                     .contains("deepspeed"));
}

TEST(deepspeed_format, precision_is_fp32_unless_said_and_auto_is_said_to_be_assumed) {
    EXPECT_EQ(deepspeed_object(R"({"train_batch_size": 8, "fp16": {"enabled": false}})")["precision"], "fp32");
    const Import open = deepspeed_import(R"({"train_batch_size": 8, "fp16": {"enabled": "auto"}})");
    EXPECT_EQ(json::parse(open.object.json())["precision"], "bf16");
    EXPECT_TRUE(std::ranges::any_of(open.notes, [](const FormatNote& note) { return note.origin.key == "fp16"; }));
}

TEST(deepspeed_format, states_and_parameters_on_the_host_are_taken) {
    const std::string both =
        R"("stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"})";
    const json job = deepspeed_object(with_zero(both));
    EXPECT_EQ(job["optimizer"], json::parse(R"({"states": "host"})"));
    EXPECT_EQ(job["deepspeed"]["offload_parameters"], "host");
}

// Frontier's file knows of no drives.
TEST(deepspeed_format, states_and_parameters_on_drives_are_asked_of_the_machine) {
    for (const char* key : {"offload_optimizer", "offload_param"}) {
        const std::string drives = std::string(R"("stage": 3, ")") + key + R"(": {"device": "nvme"})";
        EXPECT_NE(deepspeed_refusal(with_zero(drives)).find("says nothing of its drives"), std::string::npos) << key;
    }
}

TEST(deepspeed_format, unknown_places_and_compressed_gradients_are_refused) {
    EXPECT_NE(deepspeed_refusal(with_zero(R"("stage": 3, "offload_param": {"device": "tape"})"))
                  .find("zero_optimization.offload_param"),
              std::string::npos);
    EXPECT_NE(deepspeed_refusal(R"({"train_batch_size": 8, "optimizer": {"type": "ZeroOneAdam"}})").find("compressed"),
              std::string::npos);
    EXPECT_NE(deepspeed_refusal(R"({"train_batch_size": -8})").find("ds.json:1: error: train_batch_size"),
              std::string::npos);
}

}  // namespace
}  // namespace weft
