// Gradient buckets of every engine against the plans that the frameworks' own rules give.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/csv.hpp"
#include "tests/workloads/data_parallel/stage_driver.hpp"

namespace weft {
namespace {

using test::PlayedCall;

std::vector<double> byte_list(const std::string& text) {  // "412090368 201433088x24"
    std::vector<double> bytes;
    std::istringstream stream(text);
    for (std::string item; stream >> item;) {
        const std::size_t times = item.find('x');
        const std::size_t repeat = times == std::string::npos ? 1 : std::stoul(item.substr(times + 1));
        bytes.insert(bytes.end(), repeat, std::stod(item.substr(0, times)));
    }
    return bytes;
}

std::vector<double> messages(const std::vector<PlayedCall>& calls, std::string_view label) {
    std::vector<double> bytes;
    for (const PlayedCall& played : calls) {
        if (played.call.label == label) bytes.push_back(played.call.message.value);
    }
    return bytes;
}

const test::NamedModel& model_named(const std::string& name) {
    for (const test::NamedModel& model : test::neox_models()) {
        if (model.name == name) return model;
    }
    throw std::runtime_error("no model " + name);
}

void compare(const std::string& scheme, test::Factory make, ShardingInput input, std::string_view label) {
    int compared = 0;
    for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/bucket_plans.csv")) {
        if (row.at("scheme").find(scheme) == std::string::npos) continue;
        const test::NamedModel& model = model_named(row.at("model"));
        const auto modules = test::neox_stage(model.layers, model.hidden);
        const std::vector<double> expected = byte_list(row.at("bytes_per_call(compressed list)"));
        EXPECT_EQ(messages(test::play_step(make, input, modules), label), expected)
            << row.at("model") << ", " << scheme;
        EXPECT_EQ(expected.size(), std::stoul(row.at("n_calls")));
        ++compared;
    }
    EXPECT_EQ(compared, 4);
}

constexpr ShardingInput fp16{.ranks = 16, .gradient_overlap = Setting::on, .loss_scaling = LossScaling::dynamic};

ShardingInput bf16(std::uint32_t zero) {
    ShardingInput input{.ranks = 16, .zero = zero, .gradient_overlap = Setting::on};
    input.element_type = "bf16";
    input.gradient_type = "fp32";
    input.gradient_bytes = 4;
    return input;
}

TEST(bucket_plans, deepspeed_stage_0_flushes_in_forward_order_past_the_limit) {
    compare("deepspeed stage0", make_deepspeed_stage0, fp16, "all-reduce gradients");
}

TEST(bucket_plans, deepspeed_zero_reduces_in_backward_order_before_the_limit) {
    for (const std::uint32_t zero : {1U, 2U}) {
        ShardingInput input = fp16;
        input.zero = zero;
        compare("deepspeed ZeRO IPG", make_deepspeed_zero12, input, "all-reduce gradients");
    }
}

TEST(bucket_plans, torch_closes_a_first_small_bucket_and_then_larger_ones) {
    compare("torch DDP", make_torch_ddp, fp16, "all-reduce gradients");
}

TEST(bucket_plans, megatron_closes_a_bucket_of_fp32_gradients_once_full) {
    compare("megatron-core DDP", make_megatron_ddp, bf16(0), "all-reduce gradients");
}

TEST(bucket_plans, megatrons_distributed_optimizer_scatters_fp32_and_gathers_the_type_of_parameters) {
    compare("fp32 grads (reduce-scatter)", make_megatron_ddp, bf16(1), "reduce-scatter gradients");
}

TEST(bucket_plans, megatrons_distributed_optimizer_gathers_the_buckets_that_forward_needs_first) {
    for (const Setting overlap : {Setting::off, Setting::on}) {
        ShardingInput input = bf16(1);
        input.megatron.overlap_parameters = overlap;
        for (const auto& row : test::read_csv(WEFT_TEST_DATA "/workloads/data/bucket_plans.csv")) {
            if (row.at("scheme").find("bf16 params (all-gather)") == std::string::npos) continue;
            const test::NamedModel& model = model_named(row.at("model"));
            const auto modules = test::neox_stage(model.layers, model.hidden);
            std::vector<double> expected = byte_list(row.at("bytes_per_call(compressed list)"));
            std::reverse(expected.begin(), expected.end());
            EXPECT_EQ(messages(test::play_step(make_megatron_ddp, input, modules), "all-gather parameters"), expected)
                << row.at("model");
        }
    }
}

}  // namespace
}  // namespace weft
