// fully_shard: sizes by its rule of padding, computed by hand, and what is gathered and reduced when, with and without
// a pipeline.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/workloads/data_parallel/stage_driver.hpp"
#include "tests/workloads/studies.hpp"
#include "workloads/data_parallel/fsdp_units.hpp"

namespace weft {
namespace {

using test::Part;
using test::PlayedCall;

constexpr std::uint32_t layers = 4;
constexpr std::uint64_t hidden = 96, vocabulary = 512;
constexpr double layer_elements = 12.0 * hidden * hidden + 13 * hidden;
constexpr double embedding_elements = 1.0 * vocabulary * hidden;
constexpr double head_elements = embedding_elements + 2 * hidden;

ShardingInput fully_sharded() {
    ShardingInput input{.micro_batches = 3, .ranks = 8, .checkpointing = Checkpointing::every_layer};
    input.fsdp.version = 2;
    return input;
}

std::vector<PlayedCall> play_fully_shard(const ShardingInput& input) {
    return test::play_step(make_fully_shard, input, test::neox_stage(layers, hidden, vocabulary));
}

double count(const std::vector<PlayedCall>& calls, Collective op, RankGroups group, double elements) {
    return static_cast<double>(std::ranges::count_if(calls, [&](const PlayedCall& played) {
        return played.call.op == op && played.call.group == group && played.call.message.value == 2 * elements;
    }));
}

double padded_layer(const Transformer& model, const LayerSplit& split, std::uint32_t ranks) {
    double elements = 0;
    for (const Module& module : layer_modules(model, LayerKind::dense, split)) {
        elements += padded_elements(module, ranks);
    }
    return elements;
}

// Llama 3 8B: of 2,048 ranks each has a row of the 1,024 of keys and values, half of them nothing but padding; tensor
// parallelism cuts the tensors first.
TEST(fully_shard, every_tensor_is_padded_to_a_multiple_of_the_ranks_along_its_first_dimension) {
    const Transformer model =
        test::small_study({"model=llama3-8b", "framework=fsdp", "layout.tensor=1", "layout.pipeline=1"}).job.model;
    const double h = 4096, f = 14336;
    const double norms = 2 * h, wide = 2 * h * h + 3 * f * h;  // queries, projection, the MLP's three
    EXPECT_EQ(2 * padded_layer(model, {}, 8), 436224000);
    EXPECT_EQ(2 * padded_layer(model, {}, 2048), 453001216);
    EXPECT_EQ(padded_layer(model, {}, 2048), wide + 2 * 2048 * h + norms);
    // 12 ranks: 4,096 rows become 4,104, 1,024 become 1,032, 14,336 become 14,340.
    EXPECT_EQ(padded_layer(model, {}, 12), 2 * 4104 * h + 2 * 1032 * h + 2 * 14340 * h + 4104 * f + 2 * 4104);
    // Tensor 8: 512 rows of queries, 128 of keys and values, 1,792 of the gate's inputs; all 4,096 of row-parallel
    // maps.
    EXPECT_EQ(padded_layer(model, {.tensor = 8}, 256),
              512 * h + 2 * 256 * h + h * 512 + 2 * 1792 * h + h * 1792 + 2 * h);
}

TEST(fully_shard, experts_are_slices_of_one_tensor) {
    const Module two{
        .name = "experts", .tensors = {100, 50, 100, 50}, .vector = {false, false, false, false}, .slices = 2};
    EXPECT_EQ(padded_elements(two, 2), 300);
    EXPECT_EQ(padded_elements(two, 8), 8 * 150) << "one slice for each rank, most of them padding";
    Module apart = two;
    apart.expert = true;
    EXPECT_EQ(padded_elements(apart, 6), 300) << "cut along the second dimension";
}

// Jobs mark the layers that run again one by one.
TEST(fully_shard, layers_that_are_marked_open_as_where_all_run_again) {
    std::vector<StageModule> modules = test::neox_stage(layers, hidden, vocabulary);
    for (StageModule& module : modules) module.recomputed = true;
    ShardingInput every = fully_sharded(), marked = fully_sharded();
    every.modules = marked.modules = modules;
    marked.checkpointing = Checkpointing::marked_layers;
    const std::vector<FsdpUnit> units = fsdp_units(every);
    const std::vector<std::size_t> unit_of = units_of_modules(units, modules.size());
    for (std::size_t m = 0; m < modules.size(); ++m) {
        for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward}) {
            EXPECT_EQ(opens(marked, units[unit_of[m]], m, pass), opens(every, units[unit_of[m]], m, pass)) << m;
        }
    }
}

TEST(fully_shard, without_a_pipeline_layers_are_gathered_twice_and_reduced_once_a_micro_batch) {
    for (const auto checkpointing : {Checkpointing::none, Checkpointing::every_layer}) {
        ShardingInput input = fully_sharded();
        input.checkpointing = checkpointing;
        const auto calls = play_fully_shard(input);
        EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), layer_elements), 3 * 2 * layers);
        EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), embedding_elements), 3 * 2);
        EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), head_elements), 3) << "kept for backward";
        EXPECT_EQ(count(calls, Collective::reduce_scatter, copy_axes(), layer_elements), 3 * layers);
        EXPECT_EQ(calls.size(), 3U * (3 * layers + 5) + 1) << "and the norm";
        input.fsdp.reshard = Reshard::always;
        EXPECT_EQ(count(play_fully_shard(input), Collective::all_gather, copy_axes(), head_elements), 3 * 2);
        input.fsdp.reshard = Reshard::never;
        EXPECT_EQ(count(play_fully_shard(input), Collective::all_gather, copy_axes(), layer_elements), 3 * layers);
    }
}

TEST(fully_shard, stages_of_a_pipeline_gather_once_and_reduce_after_the_last_backward) {
    ShardingInput input = fully_sharded();
    input.stages = 2;
    const auto calls = play_fully_shard(input);
    EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), layer_elements), layers);
    EXPECT_EQ(count(calls, Collective::reduce_scatter, copy_axes(), layer_elements), layers);
    EXPECT_EQ(calls.size(), 2U * (layers + 2) + 2) << "norms over data ranks and stages";
    // First to last: what was gathered first is reduced first.
    std::vector<double> reduced;
    for (const PlayedCall& played : calls) {
        if (played.call.op == Collective::reduce_scatter) reduced.push_back(played.call.message.value / 2);
    }
    EXPECT_EQ(reduced.front(), embedding_elements);
    EXPECT_EQ(reduced.back(), head_elements);
}

// "always": a layer is gathered for forward and backward; what backward has gathered stays for the next forward.
TEST(fully_shard, stages_that_reshard_gather_again_after_each_forward) {
    ShardingInput input = fully_sharded();
    input.stages = 2;
    input.fsdp.reshard = Reshard::always;
    const auto calls = play_fully_shard(input);
    EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), layer_elements), (1 + 3) * layers);
    EXPECT_EQ(count(calls, Collective::reduce_scatter, copy_axes(), layer_elements), layers);
}

TEST(fully_shard, gradients_of_a_pipeline_leave_with_every_micro_batch_where_asked) {
    ShardingInput input = fully_sharded();
    input.stages = 2;
    input.fsdp.accumulate = Accumulate::never;
    const auto calls = play_fully_shard(input);
    EXPECT_EQ(count(calls, Collective::reduce_scatter, copy_axes(), layer_elements), 3 * layers);
    EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), layer_elements), layers) << "parameters stay";
}

TEST(fully_shard, resharded_over_few_ranks_a_layer_is_gathered_from_these_for_backward) {
    ShardingInput input = fully_sharded();
    input.fsdp.reshard = Reshard::over_few;
    input.fsdp.reshard_ranks = input.inner_ranks = 4;
    const auto calls = play_fully_shard(input);
    EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), layer_elements), 3 * layers);
    EXPECT_EQ(count(calls, Collective::all_gather, RankGroups::inner(copy_axes()), layer_elements), 3 * layers);
}

TEST(fully_shard, hybrid_shards_are_summed_over_the_replicas) {
    ShardingInput input = fully_sharded();
    input.fsdp.strategy = Sharding::hybrid;
    input.inner_ranks = 4;
    const auto calls = play_fully_shard(input);
    EXPECT_EQ(count(calls, Collective::reduce_scatter, RankGroups::inner(copy_axes()), layer_elements), 3 * layers);
    EXPECT_EQ(count(calls, Collective::all_reduce, RankGroups::outer({"data"}), layer_elements / 4), 3 * layers);
}

// Two layers of which each has experts on 4 of 8 ranks, in replicas of 4: no two ranks of a replica share an expert.
std::vector<StageModule> stage_with_experts() {
    std::vector<StageModule> modules = test::neox_stage(2, hidden, vocabulary);
    for (StageModule& module : modules) {
        if (module.name != "4h_to_h") continue;
        module.expert = true;
        module.tensors = {hidden * hidden};
        module.vector = {false};
        module.slices = 1;
    }
    return modules;
}

ShardingInput sharing_experts(std::uint32_t inner_ranks) {
    ShardingInput input{.micro_batches = 1, .ranks = 8, .expert_ranks = 2, .sharing_experts = 4};
    input.fsdp.version = 2;
    input.inner_ranks = inner_ranks;
    input.expert_inner_ranks = inner_ranks / 4;
    input.fsdp.strategy = inner_ranks < 8 ? Sharding::hybrid : Sharding::full;
    return input;
}

TEST(fully_shard, experts_of_one_rank_in_each_replica_are_summed_over_the_replicas_alone) {
    const double expert = 1.0 * hidden * hidden;
    const auto calls = test::play_step(make_fully_shard, sharing_experts(4), stage_with_experts());
    EXPECT_EQ(count(calls, Collective::all_reduce, RankGroups::outer({"expert_data"}), expert), 2);
    EXPECT_TRUE(std::ranges::none_of(
        calls, [](const PlayedCall& played) { return played.call.group == RankGroups::inner({"expert_data"}); }));
    const auto whole = test::play_step(make_fully_shard, sharing_experts(8), stage_with_experts());
    EXPECT_EQ(count(whole, Collective::reduce_scatter, RankGroups{"expert_data"}, expert), 2);
    EXPECT_EQ(count(whole, Collective::all_gather, RankGroups{"expert_data"}, expert), 2 * 2);
}

// A layer asks for the next one, then for its experts, before its own experts are reached.
TEST(fully_shard, a_layer_fetches_the_next_one_with_its_experts) {
    const auto calls = test::play_step(make_fully_shard, sharing_experts(8), stage_with_experts());
    std::vector<RankGroups> forward;
    for (const PlayedCall& played : calls) {
        if (played.part == Part::forward && played.call.op == Collective::all_gather)
            forward.push_back(played.call.group);
    }
    const RankGroups data = copy_axes(), expert_data{"expert_data"};
    const std::vector<RankGroups> asked{data,        data,         // the embedding, and with it the first layer
                                        data,        expert_data,  // with that the second one and its experts
                                        expert_data,               // whose own come when they are reached
                                        data};                     // the head
    EXPECT_EQ(forward, asked);
}

TEST(fully_shard, one_rank_shares_nothing) {
    ShardingInput input = fully_sharded();
    input.ranks = 1;
    EXPECT_TRUE(play_fully_shard(input).empty());
}

// A buffer is copied once for each gather and once for each scatter, by the rank that computes.
TEST(fully_shard, copies_take_the_time_of_their_bytes) {
    const Study study = test::small_study({"machine=dgx-h100"});
    ShardingInput input = fully_sharded();
    input.fsdp.reduce_bytes = 4;
    input.device = &study.device;
    const auto modules = test::neox_stage(layers, hidden, vocabulary);
    input.modules = modules;
    const auto engine = make_fully_shard(input);
    test::Player player{modules, *engine, input.checkpointing};
    player.step(1);
    double out = 0, in = 0;
    for (const Action& action : player.script.actions()) {
        if (action.kind != Action::Kind::compute) continue;
        const std::string& label = player.script.labels()[action.label];
        const double seconds = player.script.work()[action.subject].value;
        if (label == "copy out parameters") out += seconds;
        if (label == "copy in gradients") in += seconds;
    }
    const auto passes = [&](double bytes) { return pass_time(study.device, {bytes}).value; };
    const double gathered = 2 * layers * passes(4 * layer_elements) + 2 * passes(4 * embedding_elements);
    EXPECT_NEAR(out, gathered + passes(4 * head_elements), 1e-12);
    EXPECT_NEAR(in, layers * passes(6 * layer_elements) + passes(6 * embedding_elements) + passes(6 * head_elements),
                1e-12);
}

}  // namespace
}  // namespace weft
