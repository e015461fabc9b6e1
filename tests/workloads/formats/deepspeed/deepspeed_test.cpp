// DeepSpeed's configuration: DeepSpeed's own defaults, and keys that a stage does not read.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/workloads/formats/key_change.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/formats/keys.hpp"

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

TEST(deepspeed_format, what_is_left_open_is_as_the_user_says) {
    const std::string open = R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": 4, "bf16": {"enabled": true}})";
    FormatOptions options = one_node();
    options.overrides = {"batch.micro=2"};
    const json batch = json::parse(deepspeed_import(open, options).object.json())["batch"];
    EXPECT_EQ(batch["global"].get<double>() / static_cast<double>(ranks_of(options)), 2 * 4);
    EXPECT_EQ(batch["micro"], 2);
    EXPECT_NE(deepspeed_refusal(open).find("give --set batch.micro=N"), std::string::npos);
}

TEST(deepspeed_format, a_refusal_of_offloading_names_it) {
    EXPECT_NE(deepspeed_refusal(with_zero(R"("stage": 2, "offload_optimizer": {"device": "nvme"})"))
                  .find("ds.json:1: error: optimizer.states (zero_optimization.offload_optimizer): states on drives"),
              std::string::npos);
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

class deepspeed_zero_key : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(deepspeed_zero_key, changes_the_job_so_and_no_more) {
    test::expect_change(deepspeed_import(with_zero("\"stage\": 3, " + GetParam().said)),
                        deepspeed_object(with_zero("\"stage\": 3")), GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    deepspeed_zero, deepspeed_zero_key,
    ::testing::ValuesIn(std::vector<test::KeyChange>{
        {R"("stage3_prefetch_bucket_size": 1e7)", R"({"deepspeed": {"prefetch_elements": 10000000}})"},
        {R"("stage3_param_persistence_threshold": "1e5")", R"({"deepspeed": {"persistence_elements": 100000}})"},
        {R"("stage3_max_live_parameters": 1e8)", R"({"deepspeed": {"max_live_elements": 100000000}})"},
        {R"("stage3_max_reuse_distance": 1e8)", R"({"deepspeed": {"max_reuse_elements": 100000000}})"},
        {R"("sub_group_size": "auto")", "{}"},
        {R"("reduce_bucket_size": "auto")", "{}"},
        {R"("zero_quantized_weights": true)", R"({"deepspeed": {"quantized_weights": true}})"},
        {R"("zero_quantized_gradients": true)", R"({"deepspeed": {"quantized_gradients": true}})"},
        {R"("zero_hpz_partition_size": 8)", R"({"deepspeed": {"hierarchical_ranks": 8}})"},
        {R"("zero_hpz_partition_size": 1)", "{}"},
        {R"("overlap_comm": false)", R"({"overlap_gradients": false})"},
        {R"("reduce_scatter": false)", R"({"deepspeed": {"reduce_scatter": false}})"},
        {R"("contiguous_gradients": true)", "{}"},
        {R"("round_robin_gradients": true)", "{}"},
        {R"("offload_optimizer": {"device": "none"})", "{}"},
        {R"("offload_param": {"device": "none"})", "{}"},
        {R"("mics_shard_size": -1)", "{}"},
        {R"("odd": 1)", "{}", "zero_optimization.odd: not known to weft, and left out"},
        {R"("use_multi_rank_bucket_allreduce": false)", "{}"},
    }));

class deepspeed_zero_refused : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(deepspeed_zero_refused, is_told_by_the_key) {
    const std::string refusal = deepspeed_refusal(with_zero("\"stage\": 3, " + GetParam().said));
    EXPECT_NE(refusal.find("error: " + GetParam().patch), std::string::npos) << refusal;
}
INSTANTIATE_TEST_SUITE_P(deepspeed_zero, deepspeed_zero_refused,
                         ::testing::ValuesIn(std::vector<test::KeyChange>{
                             {R"("reduce_bucket_size": "many")",
                              R"(zero_optimization.reduce_bucket_size: expected a number or "auto", got "many")"},
                             {R"("mics_shard_size": 8)",
                              "zero_optimization.mics_shard_size: weft has no MiCS groups of DeepSpeed"},
                         }));

std::string with_keys(const std::string& more) {
    return R"({"train_micro_batch_size_per_gpu": 2, "zero_optimization": {"stage": 0})" + more + "}";
}

class deepspeed_key : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(deepspeed_key, changes_the_job_so_and_no_more) {
    test::expect_change(deepspeed_import(with_keys(", " + GetParam().said)), deepspeed_object(with_keys("")),
                        GetParam());
}
INSTANTIATE_TEST_SUITE_P(
    deepspeed, deepspeed_key,
    ::testing::ValuesIn(std::vector<test::KeyChange>{
        {R"("bf16": {"enabled": true})", R"({"precision": "bf16"})"},
        {R"("fp16": {"enabled": true, "loss_scale": 0})", R"({"precision": "fp16"})"},
        {R"("bf16": {"enabled": "auto"})", R"({"precision": "bf16"})",
         "bf16: the Trainer says it; bf16 is assumed, --set precision=fp16 or fp32 says another"},
        {R"("bfloat16": {"enabled": true, "odd": 2})", R"({"precision": "bf16"})",
         "bfloat16.odd: not known to weft, and left out"},
        {R"("gradient_accumulation_steps": 4)", R"({"batch": {"global": 64}})",
         "gradient_accumulation_steps: batch.global is 64: micro-batch 2 x 4 accumulation steps x 8 data ranks"},
        {R"("train_batch_size": 32)", R"({"batch": {"global": 32}})"},
        {R"("train_batch_size": "auto")", "{}"},
        {R"("activation_checkpointing": {"partition_activations": true})",
         R"({"deepspeed": {"partition_activations": true}, "recompute": "full"})"},
        {R"("activation_checkpointing": {"partition_activations": false})",
         R"({"deepspeed": {"partition_activations": false}})"},
        {R"("activation_checkpointing": {"synchronize_checkpoint_boundary": true, "odd": 1})",
         R"({"deepspeed": {"synchronize_each_layer": true}})",
         "activation_checkpointing.odd: not known to weft, and left out"},
        {R"("wall_clock_breakdown": true)", R"({"deepspeed": {"wall_clock_breakdown": true}})"},
        {R"("wall_clock_breakdown": false)", "{}"},
        {R"("comms_logger": {"enabled": true, "verbose": true})", R"({"deepspeed": {"log_calls": true}})"},
        {R"("comms_logger": {"enabled": false, "odd": 1})", "{}", "comms_logger.odd: not known to weft, and left out"},
        {R"("optimizer": {"type": "Lamb"})", "{}"},
        {R"("optimizer": {"type": "Muon"})", "{}", "optimizer.type: time and memory of the update are those of Adam"},
        {R"("tensor_parallel": {"autotp_size": 2})", "{}", "tensor_parallel: is not taken over"},
        {R"("elasticity": {"enabled": true})", "{}", "elasticity: is not taken over"},
        {R"("hybrid_engine": {"enabled": true})", "{}", "hybrid_engine: is not taken over"},
        {R"("seed": 1)", "{}"},
        {R"("odd": 1)", "{}", "odd: not known to weft, and left out"},
        {R"("weft": {"recompute": "full"})", R"({"recompute": "full"})"},
        {R"("weft": {"batch.sequence": "1024"})", R"({"batch": {"sequence": 1024}})"},
    }));

class deepspeed_refused : public ::testing::TestWithParam<test::KeyChange> {};
TEST_P(deepspeed_refused, is_told_by_the_key) {
    const std::string refusal = deepspeed_refusal(with_keys(", " + GetParam().said));
    EXPECT_NE(refusal.find("error: " + GetParam().patch), std::string::npos) << refusal;
}
INSTANTIATE_TEST_SUITE_P(deepspeed, deepspeed_refused,
                         ::testing::ValuesIn(std::vector<test::KeyChange>{
                             {R"("gradient_accumulation_steps": 0.5)",
                              "gradient_accumulation_steps: expected at least 1, got 0.5"},
                             {R"("activation_checkpointing": {"cpu_checkpointing": true})",
                              "activation_checkpointing.cpu_checkpointing: weft keeps checkpoints on the device"},
                             {R"("optimizer": {"type": "ZeroOneAdam"})",
                              "optimizer.type: weft has none of DeepSpeed's optimizers with compressed communication"},
                         }));

}  // namespace
}  // namespace weft
