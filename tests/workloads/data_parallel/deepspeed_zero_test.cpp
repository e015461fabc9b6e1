// ZeRO-1/2 and stage 0 beyond the tables: settings, pipelines, single ranks, bf16 and start-up.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/workloads/data_parallel/stage_driver.hpp"

namespace weft {
namespace {

using test::Part;
using test::PlayedCall;

ShardingInput zero(std::uint32_t stage, std::uint32_t ranks) {
    ShardingInput input{.ranks = ranks, .zero = stage, .gradient_overlap = Setting::on};
    input.loss_scaling = LossScaling::dynamic;
    input.checkpointing = Checkpointing::every_layer;
    return input;
}

std::vector<double> reductions(const std::vector<PlayedCall>& calls) {
    std::vector<double> bytes;
    for (const PlayedCall& played : calls) {
        if (played.call.label.ends_with("reduce gradients")) bytes.push_back(played.call.message.value);
    }
    return bytes;
}

std::map<std::string, int> labels(const std::vector<PlayedCall>& calls, RankGroups group) {
    std::map<std::string, int> counts;
    for (const PlayedCall& played : calls) {
        if (played.call.group == group) ++counts[std::string(played.call.label)];
    }
    return counts;
}

// The first of two stages of GPT-NeoX 1.3B: twelve layers and the embedding.
std::vector<StageModule> first_stage() {
    auto modules = test::neox_stage(12, 2048);
    modules.resize(modules.size() - 2);
    return modules;
}

// A pipeline engine reduces after the backward passes in the order of optimizer groups; the sizes are those of its log.
TEST(deepspeed_zero_1, reduces_a_pipeline_stage_in_group_order) {
    const auto modules = first_stage();
    ShardingInput input = zero(1, 4);
    input.modules = modules;
    input.stages = 2;
    input.model_ranks = 2;
    const auto engine = make_deepspeed_zero12(input);
    test::Player player{modules, *engine};
    player.mark(Part::gradients);
    engine->finish_gradients(player.script);
    player.mark(Part::before_optimizer);
    engine->before_optimizer(player.script);
    player.mark(Part::after_optimizer);
    engine->after_optimizer(player.script);
    const auto calls = player.calls();
    const std::vector<double> expected{977797120, 436846592};
    EXPECT_EQ(reductions(calls), expected);
    std::vector<double> gathers;
    for (const PlayedCall& played : calls) {
        EXPECT_FALSE(played.beside);
        if (played.call.op == Collective::all_gather) gathers.push_back(played.call.message.value);
    }
    const std::vector<double> groups{1414004736, 638976};
    EXPECT_EQ(gathers, groups);
    const std::map<std::string, int> model{{"all-reduce overflow", 1}, {"all-reduce gradient norm", 2}};
    EXPECT_EQ(labels(calls, part_axes()), model);
}

TEST(deepspeed_zero_1, reduces_and_logs_a_single_rank_but_gathers_nothing) {
    const auto modules = test::neox_stage(6, 512);
    const auto calls = test::play_step(make_deepspeed_zero12, zero(1, 1), modules);
    EXPECT_EQ(reductions(calls), std::vector<double>{2.0 * 70426624});
    const std::map<std::string, int> data{
        {"all-reduce gradients", 1}, {"all-reduce overflow", 1}, {"all-reduce gradient norm", 2}};
    EXPECT_EQ(labels(calls, copy_axes()), data);
}

TEST(deepspeed_zero_1, without_reduce_scatter_reduces_the_whole_buffer) {
    ShardingInput input = zero(1, 8);
    input.deepspeed.reduce_scatter = Setting::off;
    const std::vector<double> expected(3, 1e9);
    EXPECT_EQ(reductions(test::play_step(make_deepspeed_zero12, input, test::neox_stage(24, 2048))), expected);
}

// One call of a bucket, or one for every owner of a part of it.
TEST(deepspeed_zero_1, reduces_buckets_as_its_version_does) {
    const auto calls = [](std::uint32_t stage, const char* version) {
        ShardingInput input = zero(stage, 3);
        input.deepspeed.version = version_of(deepspeed_versions, version);
        const auto played = test::play_step(make_deepspeed_zero12, input, test::neox_stage(2, 16, 64));
        return reductions(played).size();
    };
    for (const char* whole : {"0.6", "0.8", "0.12", "0.14"}) EXPECT_EQ(calls(1, whole), 1U) << whole;
    EXPECT_GT(calls(1, "0.7"), 1U);
    EXPECT_GT(calls(2, "0.11"), 1U);
    EXPECT_EQ(calls(2, "0.12"), 1U);
}

// Owner by owner: a partition of a group takes what of it the bucket holds. Naive twin: element by element.
TEST(deepspeed_zero_1, reduces_to_each_owner_what_it_owns) {
    const auto modules = test::neox_stage(2, 16, 64);
    ShardingInput input = zero(1, 3);
    input.deepspeed.multi_rank_allreduce = Setting::off;
    input.bucket_elements = 3000;

    struct Owned {
        int group;
        std::uint64_t owner;
    };
    std::uint64_t total[2] = {0, 0};
    std::vector<std::pair<int, std::uint64_t>> tensors;  // group, elements; registration order
    for (const StageModule& module : modules) {
        for (std::size_t t = 0; t < module.tensors.size(); ++t) {
            tensors.emplace_back(module.vector[t] ? 1 : 0, module.tensors[t]);
            total[module.vector[t] ? 1 : 0] += module.tensors[t];
        }
    }
    std::vector<std::vector<Owned>> elements;  // of each tensor
    std::uint64_t position[2] = {0, 0};
    for (const auto& [group, size] : tensors) {
        const std::uint64_t partition = (total[group] + 5) / 6 * 6 / 3;
        elements.emplace_back();
        for (std::uint64_t i = 0; i < size; ++i) elements.back().push_back({group, position[group]++ / partition});
    }
    std::vector<double> expected;
    std::map<std::uint64_t, double> bucket;  // by owner
    std::vector<std::uint64_t> met;          // owners, in the order in which the bucket comes upon them
    double filled = 0;
    const auto flush = [&] {
        for (const std::uint64_t owner : met) expected.push_back(2 * bucket.at(owner));
        bucket.clear();
        met.clear();
        filled = 0;
    };
    for (std::size_t t = tensors.size(); t-- > 0;) {
        if (filled > 0 && filled + static_cast<double>(tensors[t].second) > 3000) flush();
        filled += static_cast<double>(tensors[t].second);
        for (const Owned& element : elements[t]) {
            if (!bucket.contains(element.owner)) met.push_back(element.owner);
            bucket[element.owner] += 1;
        }
    }
    flush();

    std::vector<double> found;
    for (const PlayedCall& played : test::play_step(make_deepspeed_zero12, input, modules)) {
        if (played.call.op == Collective::reduce) found.push_back(played.call.message.value);
    }
    EXPECT_EQ(found, expected);
}

// A bucket takes tensors up to exactly its size: reduced before a tensor that would overfill it, not before one that
// fills it (elements_in_ipg_bucket + numel > reduce_bucket_size; stage 0: numel_count > numel_per_bucket).
class filled_bucket : public testing::Test {
  protected:
    std::vector<double> of(test::Factory make, std::uint32_t stage, double bucket, std::uint32_t layers = 1) const {
        ShardingInput input = zero(stage, 4);
        input.bucket_elements = bucket;
        std::vector<double> elements;
        for (const PlayedCall& played : test::play_step(make, input, test::neox_stage(layers, 16, 64))) {
            const bool reduces = played.call.label.ends_with("reduce gradients") ||
                                 played.call.label.ends_with("reduce-scatter gradients");
            if (reduces) elements.push_back(played.call.message.value / 2);
        }
        return elements;
    }

    // In backward order: output layer, both parts of the final norm, the bias of 4h_to_h.
    static constexpr double output = 1024, norm = 32, bias = 16, exact = output + norm + bias;
};

TEST_F(filled_bucket, of_zero_1_and_2_is_reduced_with_the_tensor_that_fills_it) {
    for (const std::uint32_t stage : {1U, 2U}) {
        EXPECT_EQ(of(make_deepspeed_zero12, stage, exact).front(), exact) << stage;
        EXPECT_EQ(of(make_deepspeed_zero12, stage, exact - 1).front(), exact - bias) << stage;
        EXPECT_EQ(of(make_deepspeed_zero12, stage, exact + 1).front(), exact) << stage;
    }
}

TEST_F(filled_bucket, of_zero_3_is_reduced_with_the_tensor_that_fills_it) {
    EXPECT_EQ(of(make_deepspeed_zero3, 3, exact).front(), exact);
    EXPECT_EQ(of(make_deepspeed_zero3, 3, exact - 1).front(), exact - bias);
}

// Owner by owner, all-reduced together until they are more than the bucket: two halves that fill one each are one call.
TEST_F(filled_bucket, of_zero_1_and_2_ends_no_call_that_fills_it) {
    for (const std::uint32_t stage : {1U, 2U}) {
        EXPECT_EQ(of(make_deepspeed_zero12, stage, output / 2, 0).front(), output) << stage;
    }
}

TEST_F(filled_bucket, of_stage_0_waits_for_the_tensor_that_overfills_it) {
    const std::vector<StageModule> modules{
        {{"matrices", false, {499'999'999, 1, 1, 7}, {false, false, false, false}}, 0, 0}};
    ShardingInput input = zero(0, 4);
    input.modules = modules;
    Script script;
    make_deepspeed_stage0(input)->finish_gradients(script);
    ASSERT_EQ(script.calls().size(), 2U);
    EXPECT_EQ(script.calls()[0].message.value, 2.0 * 500'000'001);
    EXPECT_EQ(script.calls()[1].message.value, 2.0 * 7);
}

// With two buffers the reduction of a bucket may run while the next one fills, no longer.
TEST(deepspeed_zero_2, has_at_most_two_buckets_under_way) {
    const auto modules = test::neox_stage(4, 64, 512);
    ShardingInput input = zero(2, 4);
    input.modules = modules;
    input.micro_batches = 2;
    input.bucket_elements = 20000;
    const auto engine = make_deepspeed_zero12(input);
    test::Player player{modules, *engine};
    player.step(2);
    int open = 0, most = 0, issued = 0;
    for (const Action& action : player.script.actions()) {
        if (action.kind == Action::Kind::issue) most = std::max(most, ++open), ++issued;
        if (action.kind == Action::Kind::wait) --open;
    }
    EXPECT_GT(issued, 8);
    EXPECT_EQ(most, 2);
    EXPECT_EQ(open, 0);
}

TEST(deepspeed_zero_1, communicates_only_after_the_last_micro_batch) {
    ShardingInput one = zero(1, 4), four = zero(1, 4);
    four.micro_batches = 4;
    const auto modules = test::neox_stage(2, 64);
    EXPECT_EQ(reductions(test::play_step(make_deepspeed_zero12, one, modules)),
              reductions(test::play_step(make_deepspeed_zero12, four, modules)));
    one.zero = four.zero = 2;
    EXPECT_EQ(4 * reductions(test::play_step(make_deepspeed_zero12, one, modules)).size(),
              reductions(test::play_step(make_deepspeed_zero12, four, modules)).size());
}

TEST(deepspeed_stage_0, with_bf16_gathers_parameters_and_looks_for_no_overflow) {
    ShardingInput input = zero(0, 8);
    input.loss_scaling = LossScaling::none;
    input.element_type = "bf16";
    const auto calls = test::play_step(make_deepspeed_stage0, input, test::neox_stage(2, 64));
    const std::map<std::string, int> data{{"all-reduce gradients", 1}, {"all-gather parameters", 2}};
    const std::map<std::string, int> model{{"all-reduce gradient norm", 1}};
    EXPECT_EQ(labels(calls, copy_axes()), data);
    EXPECT_EQ(labels(calls, part_axes()), model);
}

TEST(deepspeed, start_up_broadcasts_every_tensor_once) {
    const auto modules = test::neox_stage(24, 2048);
    for (const std::uint32_t stage : {0U, 1U, 2U}) {
        const auto make = stage == 0 ? make_deepspeed_stage0 : make_deepspeed_zero12;
        double bytes = 0;
        const auto calls = test::play_start_up(make, zero(stage, 8), modules);
        for (const PlayedCall& played : calls) {
            EXPECT_EQ(played.call.op, Collective::broadcast);
            bytes += played.call.message.value;
        }
        EXPECT_EQ(calls.size(), 12U * 24 + 4);
        EXPECT_EQ(bytes, 2.0 * 1414647808);
    }
}

TEST(tied_embedding, is_summed_where_a_copy_is) {
    const std::uint64_t h = 64;
    for (const auto make : {make_deepspeed_stage0, make_megatron_ddp}) {
        for (const std::uint32_t stage : {0U, 1U, 2U}) {
            auto modules = test::neox_stage(2, h, 512);
            if (stage == 2) modules.back().name = "tied embedding";
            ShardingInput input{.stage = stage, .stages = 3, .embedding_tie = EmbeddingTie::over_stages};
            const auto counts = labels(test::play_step(make, input, modules), RankGroups::embedding());
            EXPECT_EQ(counts.size(), stage == 1 ? 0U : 1U);
        }
    }
}

// The distributed optimizer keeps a tied embedding in a bucket of its own.
TEST(tied_embedding, has_its_own_bucket_under_the_distributed_optimizer) {
    const auto modules = test::neox_stage(2, 64, 512);
    ShardingInput input{.stages = 2, .ranks = 4, .zero = 1, .embedding_tie = EmbeddingTie::over_stages};
    std::vector<double> bytes;
    for (const PlayedCall& played : test::play_step(make_megatron_ddp, input, modules)) {
        if (played.call.op == Collective::reduce_scatter) bytes.push_back(played.call.message.value);
    }
    ASSERT_EQ(bytes.size(), 2U);
    EXPECT_EQ(bytes.back(), 2.0 * 512 * 64);
}

}  // namespace
}  // namespace weft
