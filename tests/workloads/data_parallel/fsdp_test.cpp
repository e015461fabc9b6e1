// FSDP's calls against its rule: a unit is gathered for forward and again for backward, and scattered once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/workloads/data_parallel/stage_driver.hpp"

namespace weft {
namespace {

using test::Part;
using test::PlayedCall;

constexpr std::uint32_t layers = 5;
constexpr std::uint64_t hidden = 96;
constexpr double layer_elements = 12.0 * hidden * hidden + 13 * hidden;
constexpr double root_elements = 2 * 50304.0 * hidden + 2 * hidden;

ShardingInput sharded(Sharding strategy = Sharding::full) {
    ShardingInput input{.micro_batches = 2, .ranks = 8, .checkpointing = Checkpointing::every_layer};
    input.fsdp.strategy = strategy;
    return input;
}

std::vector<PlayedCall> play(const ShardingInput& input) {
    return test::play_step(make_fsdp, input, test::neox_stage(layers, hidden));
}

double count(const std::vector<PlayedCall>& calls, Collective op, RankGroups group, double message) {
    return static_cast<double>(std::count_if(calls.begin(), calls.end(), [&](const PlayedCall& played) {
        return played.call.op == op && played.call.group == group && played.call.message.value == message;
    }));
}

TEST(fsdp, full_sharding_gathers_layers_twice_and_the_root_once_a_micro_batch) {
    for (const auto checkpointing : {Checkpointing::none, Checkpointing::every_layer}) {
        for (const auto prefetch : {BackwardPrefetch::none, BackwardPrefetch::before, BackwardPrefetch::after}) {
            ShardingInput input = sharded();
            input.checkpointing = checkpointing;
            input.fsdp.backward_prefetch = prefetch;
            const auto calls = play(input);
            EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), 2 * layer_elements), 2 * 2 * layers);
            EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), 2 * root_elements), 2);
            EXPECT_EQ(count(calls, Collective::reduce_scatter, copy_axes(), 2 * layer_elements), 2 * layers);
            EXPECT_EQ(count(calls, Collective::reduce_scatter, copy_axes(), 2 * root_elements), 2);
            EXPECT_EQ(calls.size(), 2U * (3 * layers + 2) + 1) << "and the norm";
        }
    }
}

TEST(fsdp, sharding_gradients_keeps_parameters_from_forward_to_backward) {
    const auto calls = play(sharded(Sharding::gradients));
    EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), 2 * layer_elements), 2 * layers);
    EXPECT_EQ(count(calls, Collective::reduce_scatter, copy_axes(), 2 * layer_elements), 2 * layers);
}

TEST(fsdp, hybrid_sharding_sums_shards_over_the_replicas) {
    for (const Sharding strategy : {Sharding::hybrid, Sharding::hybrid_gradients}) {
        ShardingInput input = sharded(strategy);
        input.inner_ranks = 4;
        const auto calls = play(input);
        const double gathers = strategy == Sharding::hybrid ? 2 : 1;
        EXPECT_EQ(count(calls, Collective::all_gather, RankGroups::inner(copy_axes()), 2 * layer_elements),
                  2 * gathers * layers);
        EXPECT_EQ(count(calls, Collective::reduce_scatter, RankGroups::inner(copy_axes()), 2 * layer_elements),
                  2 * layers);
        EXPECT_EQ(count(calls, Collective::all_reduce, RankGroups::outer({"data"}), 2 * layer_elements / 4),
                  2 * layers);
    }
}

TEST(fsdp, no_sync_scatters_only_the_last_micro_batch_but_still_gathers) {
    ShardingInput input = sharded();
    input.fsdp.accumulate = Accumulate::step;
    const auto calls = play(input);
    EXPECT_EQ(count(calls, Collective::reduce_scatter, copy_axes(), 2 * layer_elements), layers);
    EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), 2 * layer_elements), 2 * 2 * layers);
    input.fsdp.strategy = Sharding::gradients;  // nothing is freed under no_sync: the second forward finds it all
    EXPECT_EQ(count(play(input), Collective::all_gather, copy_axes(), 2 * layer_elements), layers);
}

TEST(fsdp, the_flat_parameter_is_padded_to_a_multiple_of_the_ranks) {
    ShardingInput input = sharded();
    input.ranks = 7;
    EXPECT_EQ(count(play(input), Collective::all_gather, copy_axes(), 2 * 7 * std::ceil(layer_elements / 7)),
              4 * layers);
}

TEST(fsdp, gradients_travel_in_the_type_that_is_asked_for) {
    ShardingInput input = sharded();
    input.fsdp.reduce_bytes = 4;
    EXPECT_EQ(count(play(input), Collective::reduce_scatter, copy_axes(), 4 * layer_elements), 2 * layers);
}

TEST(fsdp, one_rank_gathers_nothing_and_all_reduces_by_itself) {
    ShardingInput input = sharded();
    input.ranks = 1;
    const auto calls = play(input);
    EXPECT_EQ(count(calls, Collective::all_gather, copy_axes(), 2 * layer_elements), 0);
    EXPECT_EQ(count(calls, Collective::all_reduce, copy_axes(), 2 * layer_elements), 2 * layers);
}

// The order of calls in backward is what prefetching changes: the next gather before or after this unit's scatter.
TEST(fsdp, backward_prefetch_puts_the_next_gather_before_the_scatter) {
    for (const auto prefetch : {BackwardPrefetch::none, BackwardPrefetch::before, BackwardPrefetch::after}) {
        ShardingInput input = sharded();
        input.micro_batches = 1;
        input.fsdp.backward_prefetch = prefetch;
        std::string order;
        for (const PlayedCall& played : play(input)) {
            if (played.part != Part::backward || played.call.message.value != 2 * layer_elements) continue;
            order += played.call.op == Collective::all_gather ? 'g' : 's';
        }
        EXPECT_EQ(order, prefetch == BackwardPrefetch::none ? "gsgsgsgsgs" : "ggsgsgsgss");
    }
}

// How many units are whole at a time: those whose gather may have started and that have not been freed.
std::size_t most_whole_layers(const ShardingInput& input) {
    const auto modules = test::neox_stage(layers, hidden);
    ShardingInput own = input;
    own.modules = modules;
    const auto engine = make_fsdp(own);
    test::Player player{modules, *engine, input.checkpointing};
    player.begin_step();
    player.forward(0, Accumulation::complete);
    // A gather that starts after action `a` may begin once `a` is done; the last computation of unit k frees it.
    std::vector<ActionId> starts, ends;
    std::size_t computed = 0;  // the embedding, then layer after layer
    const auto& actions = player.script.actions();
    for (ActionId i = 0; i < actions.size(); ++i) {
        const Action& action = actions[i];
        const bool gather = action.kind == Action::Kind::issue;
        if (gather && player.script.calls()[action.subject].message.value == 2 * layer_elements) {
            starts.push_back(action.after == Action::none ? 0 : action.after + 1);
        }
        if (action.kind != Action::Kind::compute) continue;
        if (computed > 0 && computed % test::modules_per_layer == 0) ends.push_back(i);
        ++computed;
    }
    EXPECT_EQ(starts.size(), layers);
    std::size_t most = 0;
    for (ActionId now = 0; now < actions.size(); ++now) {
        const auto started = std::count_if(starts.begin(), starts.end(), [&](ActionId a) { return a <= now; });
        const auto freed = std::count_if(ends.begin(), ends.end(), [&](ActionId a) { return a < now; });
        most = std::max(most, static_cast<std::size_t>(started - freed));
    }
    return most;
}

TEST(fsdp, the_limiter_keeps_few_gathers_ahead_of_the_computation) {
    ShardingInput input = sharded();
    EXPECT_EQ(most_whole_layers(input), 2U);
    input.fsdp.forward_prefetch = Setting::on;
    EXPECT_EQ(most_whole_layers(input), 3U) << "a prefetch comes before the free that it would have waited for";
    input.fsdp.limit_all_gathers = Setting::off;
    EXPECT_EQ(most_whole_layers(input), layers);
}

}  // namespace
}  // namespace weft
