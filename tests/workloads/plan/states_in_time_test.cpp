// What PyTorch's FSDP and DDP hold at the moments of a step: closed forms by hand, and
// torch.cuda.max_memory_allocated() of steps on one H100 (PyTorch 2.11): RMSNorm, rotary embeddings, grouped heads and
// SwiGLU of Llama 3's shapes, modules run eagerly, logits.float() into cross_entropy, fused AdamW, zero_grad to None.
#include "workloads/plan/states_in_time.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/workloads/studies.hpp"

namespace weft {
namespace {

using Settings = std::vector<std::string>;

constexpr double GiB = 1 << 30;
constexpr double h = 4096, f = 14336, V = 128256, L = 8, kv = 1024, rows = 32;  // of Llama 3 8B, but for its layers
constexpr double layer = 2 * h * h + 2 * h * kv + 3 * h * f + 2 * h, root = 2 * V * h + h, P = L * layer + root;
constexpr double libraries = 64 * (1 << 20);

const Settings fully_shard{"framework=fsdp", "fsdp.version=2", "fsdp.reduce_precision=fp32"};

MemoryUse memory_of(const Settings& more, const Settings& framework = fully_shard) {
    Settings all{"machine=dgx-h100",
                 "nodes=1",
                 "layout.tensor=1",
                 "layout.pipeline=1",
                 "layout.data=1",
                 "precision=bf16",
                 "attention=cudnn",
                 "model.gated=true",
                 "model.biases=false",
                 "model.layers=8",
                 "model.hidden=4096",
                 "model.heads=32",
                 "model.ffn_hidden=14336",
                 "model.kv_heads=8",
                 "batch.global=1",
                 "model.norm=rms_norm",
                 "model.vocabulary=128256",
                 "batch.sequence=8192",
                 "batch.micro=1",
                 "model.positions=rotary",
                 "modules=plain"};
    all.insert(all.end(), framework.begin(), framework.end());
    all.insert(all.end(), more.begin(), more.end());
    return make_plan(test::small_study(all)).stages.front().memory;
}

// Of a token: inputs of both norms and what comes of them, queries, their attention, keys and values, and of the MLP
// both halves, what SiLU makes of one, and their product; the logarithms of rows' sums.
constexpr double kept_of_token = 2 * (6 * h + 2 * kv + 4 * f) + 4 * rows;

// Master copies and Adam's states take 12 P. There are no gradients; of parameters in 16 bits the root's alone; of each
// logit three numbers in fp32: the logarithm of its softmax, the gradient of that and its own. Token ids take 8 bytes.
TEST(states_in_time, of_fsdp_at_the_loss) {
    const MemoryUse use = memory_of({});
    const double T = 8192;
    EXPECT_EQ(use.at, FullestAt::loss);
    EXPECT_EQ(use.gradients, 0_B);
    EXPECT_DOUBLE_EQ(use.parameters.value + use.optimizer.value, 12 * P);
    EXPECT_DOUBLE_EQ(use.buffers.value, 2 * root);
    EXPECT_DOUBLE_EQ(use.allocated().value,
                     12 * P + 2 * root + T * (L * kept_of_token + 4 * h + 8 + 12 * V) + libraries);
    EXPECT_NEAR(use.allocated().value / (55.393 * GiB), 1, 0.005);
}

// Of four micro-batches the last finds the gradients of those before.
TEST(states_in_time, keep_gradients_between_micro_batches) {
    const MemoryUse one = memory_of({}), four = memory_of({"batch.global=4"});
    EXPECT_DOUBLE_EQ(four.allocated().value, one.allocated().value + 4 * P);
    EXPECT_NEAR(four.allocated().value / (65.805 * GiB), 1, 0.005);
}

// All gradients are reduced, in fp32, and the root's are still in the buffer that was; activations do not matter.
TEST(states_in_time, of_fsdp_at_the_end_of_backward) {
    for (const Settings& settings : {Settings{"batch.sequence=2048"}, Settings{"recompute=full"}}) {
        const MemoryUse use = memory_of(settings);
        EXPECT_EQ(use.at, FullestAt::end_of_backward);
        EXPECT_EQ(use.activations, 0_B);
        EXPECT_DOUBLE_EQ(use.allocated().value, 16 * P + 4 * root + libraries);
        EXPECT_NEAR(use.allocated().value / (45.636 * GiB), 1, 0.005);
    }
}

// Two wide layers: as the first runs backward, gradients of the second are there and in their buffer, its own
// parameters and gradients in 16 bits, and the output layer's gradient waits for the root.
TEST(states_in_time, of_fsdp_in_the_backward_pass) {
    const MemoryUse use = memory_of({"model.layers=2", "model.hidden=8192", "model.heads=64", "model.ffn_hidden=28672",
                                     "model.vocabulary=32000", "batch.sequence=4096"});
    const double wide = 2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 3 * 8192.0 * 28672 + 2 * 8192, ends = 32000.0 * 8192;
    EXPECT_EQ(use.at, FullestAt::backward);
    EXPECT_DOUBLE_EQ(use.gradients.value, 4 * wide);
    EXPECT_DOUBLE_EQ(use.buffers.value, 2 * (2 * ends + 8192) + 2 * (ends + 8192) + 2 * wide + 4 * wide);
    EXPECT_NEAR(use.allocated().value / (36.766 * GiB), 1, 0.01);
}

// Under autocast inputs of norms are in fp32, each map keeps a cast of its own, and so do products of their weights:
// all but the embedding and the norms. Buckets hold the gradients at all times.
TEST(states_in_time, of_ddp_under_autocast) {
    const MemoryUse use = memory_of({"model.layers=16", "model.hidden=2048", "model.ffn_hidden=8192",
                                     "batch.sequence=2048", "batch.micro=4", "batch.global=4"},
                                    {"framework=ddp"});
    const double hidden = 2048, keys = 512, ffn = 8192, T = 8192;
    const double maps = 16 * (2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * ffn) + V * hidden;
    const double parameters = maps + V * hidden + 33 * hidden;
    const double token = 2 * (4 * hidden + 5 * hidden + 2 * hidden + 2 * keys + 4 * ffn) + 4 * rows;
    EXPECT_EQ(use.at, FullestAt::loss);
    EXPECT_DOUBLE_EQ(use.gradients.value, 4 * parameters);
    EXPECT_DOUBLE_EQ(use.buffers.value, 2 * maps);
    EXPECT_DOUBLE_EQ(use.allocated().value,
                     16 * parameters + 2 * maps + T * (16 * token + 4 * hidden + 8 + 12 * V) + libraries);
    EXPECT_NEAR(use.allocated().value / (50.299 * GiB), 1, 0.01);
}

// Megatron's gradients have buffers of their own: nothing passes, wherever the peak is.
TEST(states_in_time, of_megatron_stay) {
    const Plan plan = make_plan(test::small_study());
    for (const Stage& stage : plan.stages) {
        EXPECT_EQ(stage.memory.passing, 0_B);
        EXPECT_DOUBLE_EQ(stage.memory.gradients.value, 2 * stage.dense);
    }
}

}  // namespace
}  // namespace weft
