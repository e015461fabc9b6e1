// Refusals that need more than two settings: each at the key that asks for it, with the numbers.
#include <gtest/gtest.h>

#include "tests/workloads/soundness.hpp"
#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

// What is reported at `key`; empty if nothing is.
bool says(const std::string& message, const std::string& part) { return message.find(part) != std::string::npos; }

const std::vector<std::string> zero3{"framework=deepspeed", "machine=dgx-a100", "zero=3", "layout.tensor=1",
                                     "layout.pipeline=1"};

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

// Nodes of 8: of 12 ranks, 8 share the first node and 4 the second.
TEST(refusals, quantized_gradients_need_whole_nodes) {
    const auto settings = with(zero3, {"layout.data=12", "batch.global=12", "deepspeed.quantized_gradients=true"});
    EXPECT_TRUE(says(test::mistake_at(settings, "deepspeed.quantized_gradients"),
                     "8 data ranks of a node do not divide data 12"));
}

TEST(refusals, quantized_gradients_and_a_partition_that_is_no_node) {
    const auto settings =
        with(zero3, {"layout.tensor=2", "layout.data=8", "batch.global=8", "deepspeed.quantized_gradients=true"});
    EXPECT_TRUE(
        says(test::mistake_at(with(settings, {"deepspeed.hierarchical_ranks=8"}), "deepspeed.hierarchical_ranks"),
             "8 ranks of a secondary group are not the 4 data ranks of a node"));
    EXPECT_EQ(test::unsoundness(test::small_study(with(settings, {"deepspeed.hierarchical_ranks=4"}))), "");
}

TEST(refusals, quantized_gradients_with_tensor_ranks_spread_over_nodes) {
    const auto settings = with(zero3, {"layout.tensor=2", "layout.data=8", "batch.global=8",
                                       "layout.order=data,tensor,pipeline", "deepspeed.quantized_gradients=true"});
    EXPECT_TRUE(says(test::mistake_at(settings, "deepspeed.quantized_gradients"), "tensor innermost"));
}

TEST(refusals, hybrid_shards_must_tile_the_data_ranks) {
    const std::vector<std::string> hybrid{
        "framework=fsdp",  "layout.tensor=1",  "layout.pipeline=1",         "layout.data=12",
        "batch.global=12", "machine=dgx-a100", "fsdp.strategy=hybrid_shard"};
    EXPECT_TRUE(says(test::mistake_at(with(hybrid, {"fsdp.shard_ranks=5"}), "fsdp.shard_ranks"), "5 ranks"));
    EXPECT_TRUE(says(test::mistake_at(with(hybrid, {"fsdp.shard_ranks=24"}), "fsdp.shard_ranks"), "24 ranks"));
    EXPECT_EQ(test::unsoundness(test::small_study(with(hybrid, {"fsdp.shard_ranks=6"}))), "");
    EXPECT_EQ(test::unsoundness(test::small_study(with(hybrid, {"fsdp.shard_ranks=12"}))), "");
}

TEST(refusals, cut_experts_need_tensor_innermost) {
    const std::vector<std::string> settings{"model.experts.count=4", "layout.expert=2", "sequence_parallel=true",
                                            "layout.order=data,tensor,pipeline"};
    EXPECT_TRUE(says(test::mistake_at(settings, "layout.order"), "tensor innermost"));
}

// Dense models have no expert groups that a rank order could cut unevenly.
TEST(refusals, a_dense_model_takes_any_rank_order) {
    EXPECT_EQ(test::unsoundness(test::small_study(
                  {"layout.order=data,tensor,pipeline", "layout.data=3", "layout.tensor=2", "batch.global=12"})),
              "");
    EXPECT_TRUE(says(test::mistake_at({"layout.expert_tensor=3"}, "layout.expert_tensor"), "has no experts to cut"));
}

// Of Megatron-FSDP: what it needs, and what two stages hold at once.
TEST(refusals, megatron_shares_gradients_with_its_distributed_optimizer_only) {
    const std::vector<std::string> shared{"megatron.version=core-0.13", "megatron.sharding=optim_grads"};
    EXPECT_TRUE(says(test::mistake_at(shared, "megatron.sharding"), "needs the distributed optimizer"));
    const auto distributed = with(shared, {"zero=1", "overlap_gradients=true"});
    EXPECT_EQ(test::unsoundness(test::small_study(distributed)), "");
    EXPECT_TRUE(
        says(test::mistake_at(with(distributed, {"megatron.version=core-0.8"}), "megatron.sharding"), "since 0.12"));
    EXPECT_TRUE(
        says(test::mistake_at(with(distributed, {"model.tied_embeddings=true"}), "megatron.sharding"), "two stages"));
    EXPECT_TRUE(says(test::mistake_at({"megatron.accumulate_locally=round"}, "megatron.accumulate_locally"),
                     "megatron.sharding"));
}

// Layers of context ranks are shared by them and data ranks: 2 x 8.
TEST(refusals, layers_are_resharded_over_a_part_of_the_ranks) {
    const std::vector<std::string> settings{"framework=fsdp",    "fsdp.version=2",   "layout.tensor=1",
                                            "layout.pipeline=1", "layout.context=2", "layout.data=8",
                                            "batch.global=8"};
    for (const char* ranks : {"3", "16", "32", "1"}) {
        EXPECT_TRUE(says(test::mistake_at(with(settings, {std::string("fsdp.reshard_after_forward=") + ranks}),
                                          "fsdp.reshard_after_forward"),
                         "are no part of the 16"))
            << ranks;
    }
    EXPECT_EQ(test::unsoundness(test::small_study(with(settings, {"fsdp.reshard_after_forward=4"}))), "");
}

}  // namespace
}  // namespace weft
