#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/transformer/kernels.hpp"
#include "tests/models/csv.hpp"
#include "tests/models/shapes.hpp"
#include "tests/models/transformer/dense_layer.hpp"

namespace weft {
namespace {

using testing::layer_backward;
using testing::layer_forward;
using testing::LayerKernels;

using testing::any_model;
using testing::any_shard;
using testing::any_tensor;
using ::testing::ElementsAre;
using testing::plain;

using Kernels = std::vector<Kernel>;

Kernels all(const LayerKernels& layer) {
    Kernels kernels = layer.attention;
    kernels.insert(kernels.end(), layer.mlp.begin(), layer.mlp.end());
    return kernels;
}

double flops(const Kernels& kernels) {
    return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                           [](double sum, const Kernel& kernel) { return sum + kernel.flops.value; });
}

double bytes(const Kernels& kernels) {
    return std::accumulate(kernels.begin(), kernels.end(), 0.0,
                           [](double sum, const Kernel& kernel) { return sum + kernel.bytes.value; });
}

std::vector<std::string> names(const Kernels& kernels) {
    std::vector<std::string> result;
    for (const Kernel& kernel : kernels) result.emplace_back(kernel.name);
    return result;
}

const Kernel& find(const Kernels& kernels, std::string_view name) {
    const auto kernel = std::ranges::find(kernels, name, &Kernel::name);
    if (kernel == kernels.end()) throw std::out_of_range("no kernel " + std::string(name));
    return *kernel;
}

bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b)); }

constexpr Shard small{
    .micro_batch = 2, .sequence = 16, .tensor = 2, .element_bytes = 2.0, .attention = AttentionCore::unfused};

TEST(layer_forward, runs_kernels_in_order) {
    const LayerKernels layer = layer_forward(plain(1, 64, 4, 128), small);
    EXPECT_THAT(names(layer.attention), ElementsAre("input norm", "qkv", "rotary", "scores", "softmax", "context",
                                                    "dense", "attention residual"));
    EXPECT_THAT(names(layer.mlp), ElementsAre("post-attention norm", "h_to_4h", "gelu", "4h_to_h", "mlp residual"));
    EXPECT_THAT(names(layer.attention_core), ElementsAre("scores", "softmax", "context"));
}

TEST(layer_forward, adds_both_residuals_at_once_where_they_are_parallel) {
    Transformer model = plain(1, 64, 4, 128);
    model.parallel_residual = true;
    model.positions = Positions::alibi;
    const LayerKernels layer = layer_forward(model, small);
    EXPECT_THAT(names(layer.attention),
                ElementsAre("input norm", "qkv", "alibi", "scores", "softmax", "context", "dense"));
    EXPECT_EQ(layer.mlp.back().bytes.value, 4.0 * 2 * 16 * 64 * 2);  // reads input, attention, MLP; writes the sum
}

// b s = 32 tokens; h = 64: QKV 192/2 columns, projection from 32, MLP 256/2; 2 x 2 score matrices of 16 x 16.
TEST(layer_forward, shapes_matrices_for_one_tensor_rank) {
    const LayerKernels layer = layer_forward(plain(1, 64, 4, 128), small);
    const auto expect = [](const Kernel& kernel, double m, double n, double k, double count) {
        EXPECT_EQ(kernel.kind, KernelKind::gemm);
        EXPECT_EQ(kernel.m, m) << kernel.name;
        EXPECT_EQ(kernel.n, n) << kernel.name;
        EXPECT_EQ(kernel.k, k) << kernel.name;
        EXPECT_EQ(kernel.count, count) << kernel.name;
    };
    expect(find(layer.attention, "qkv"), 32, 96, 64, 1);
    expect(find(layer.attention, "scores"), 16, 16, 16, 4);
    expect(find(layer.attention, "context"), 16, 16, 16, 4);
    expect(find(layer.attention, "dense"), 32, 64, 32, 1);
    expect(find(layer.mlp, "h_to_4h"), 32, 128, 64, 1);
    expect(find(layer.mlp, "4h_to_h"), 32, 64, 128, 1);
}

TEST(layer_forward, moves_the_bytes_of_memory_bound_kernels) {
    const LayerKernels layer = layer_forward(plain(1, 64, 4, 128), small);
    constexpr double state = 32 * 64 * 2.0;  // bytes of b s h
    EXPECT_EQ(find(layer.attention, "input norm").bytes.value, 2 * state);
    EXPECT_EQ(find(layer.attention, "rotary").bytes.value, 2 * 32 * (32 + 32) * 2.0);
    EXPECT_EQ(find(layer.attention, "softmax").bytes.value, 2 * 4 * 16 * 16 * 2.0);
    EXPECT_EQ(find(layer.attention, "attention residual").bytes.value, 3 * state);
    EXPECT_EQ(find(layer.mlp, "gelu").bytes.value, 2 * 32 * 128 * 2.0);
}

TEST(layer_forward, reads_twice_what_a_gated_activation_writes) {
    Transformer model = plain(1, 64, 4, 128);
    model.gated = true;
    const LayerKernels forward = layer_forward(model, small), backward = layer_backward(model, small);
    EXPECT_EQ(find(forward.mlp, "h_to_4h").n, 256);
    EXPECT_EQ(find(forward.mlp, "swiglu").bytes.value, 3 * 32 * 128 * 2.0);
    EXPECT_EQ(find(backward.mlp, "swiglu gradient").bytes.value, 5 * 32 * 128 * 2.0);
}

TEST(layer_forward, moves_each_matrix_of_a_product_once) {
    const LayerKernels layer = layer_forward(plain(1, 64, 4, 128), small);
    EXPECT_EQ(find(layer.attention, "qkv").bytes.value, 2.0 * (32 * 64 + 64 * 96 + 32 * 96));
    EXPECT_EQ(find(layer.attention, "qkv").flops.value, 2.0 * 32 * 64 * 96);
}

TEST(layer_backward, runs_the_blocks_in_reverse) {
    Transformer model = plain(1, 64, 4, 128);
    model.biases = false;
    const LayerKernels layer = layer_backward(model, small);
    EXPECT_THAT(names(layer.mlp), ElementsAre("4h_to_h input gradient", "4h_to_h weight gradient", "gelu gradient",
                                              "h_to_4h input gradient", "h_to_4h weight gradient",
                                              "post-attention norm gradient", "mlp residual gradient"));
    EXPECT_EQ(layer.attention.front().name, "dense input gradient");
    EXPECT_EQ(layer.attention.back().name, "attention residual gradient");
    EXPECT_TRUE(layer.attention_core.empty());
}

TEST(layer_backward, adds_a_bias_gradient_to_every_matrix_of_a_model_with_biases) {
    Transformer model = plain(1, 64, 4, 128);
    const std::size_t with = all(layer_backward(model, small)).size();
    model.biases = false;
    EXPECT_EQ(with - all(layer_backward(model, small)).size(), 4U);
}

// dX = dY W^T is m x k with inner dimension n; dW = dY^T X is n x k with inner dimension m.
TEST(layer_backward, turns_the_dimensions_of_the_forward_products) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        const Shard shard = any_shard(t);
        const Kernels forward = all(layer_forward(model, shard)), backward = all(layer_backward(model, shard));
        for (const std::string name : {"qkv", "dense", "h_to_4h", "4h_to_h"}) {
            const Kernel& product = find(forward, name);
            const Kernel& input = find(backward, name + " input gradient");
            const Kernel& weight = find(backward, name + " weight gradient");
            RC_ASSERT(input.m == product.m && input.n == product.k && input.k == product.n);
            RC_ASSERT(weight.m == product.n && weight.n == product.k && weight.k == product.m);
        }
    }));
}

TEST(layer_backward, has_twice_the_flops_of_forward) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        const Shard shard = any_shard(t);
        RC_ASSERT(close(flops(all(layer_backward(model, shard))), 2 * flops(all(layer_forward(model, shard)))));
    }));
}

TEST(layer_forward, flops_of_all_ranks_are_those_of_one) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        Shard shard = any_shard(t);
        const double share = flops(all(layer_forward(model, shard)));
        shard.tensor = 1;
        RC_ASSERT(close(t * share, flops(all(layer_forward(model, shard)))));
    }));
}

TEST(layer_forward, flash_attention_has_the_flops_of_the_products_it_fuses) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const Transformer model = any_model(t);
        Shard shard = any_shard(t);
        shard.attention = AttentionCore::flash;
        const LayerKernels fused = layer_forward(model, shard), fused_back = layer_backward(model, shard);
        shard.attention = AttentionCore::unfused;
        RC_ASSERT(close(flops(fused.attention_core), flops(layer_forward(model, shard).attention_core)));
        RC_ASSERT(close(flops(all(fused_back)), flops(all(layer_backward(model, shard)))));
    }));
}

// Without the score matrices the traffic grows linearly with the sequence.
TEST(layer_forward, flash_attention_never_moves_the_scores) {
    Shard shard{.micro_batch = 2, .sequence = 512, .attention = AttentionCore::flash};
    const Transformer model = plain(1, 64, 4, 128);
    const double once = bytes(layer_forward(model, shard).attention_core);
    shard.sequence = 1024;
    EXPECT_EQ(bytes(layer_forward(model, shard).attention_core), 2 * once);
}

// Products executed: 2 of 2 forward and 5 of 4 backward (the scores once more), each on the unmasked half.
TEST(layer_backward, flash_attention_executes_five_half_products_for_four) {
    const Transformer model = plain(1, 64, 4, 128);
    const Shard shard{.micro_batch = 2, .sequence = 16, .attention = AttentionCore::flash};
    EXPECT_EQ(find(layer_forward(model, shard).attention, "attention core").executed, 0.5);
    const Kernel back = find(layer_backward(model, shard).attention, "attention core gradient");
    EXPECT_EQ(back.executed * back.flops.value, 5 * 0.5 * 2.0 * 2 * 4 * 16 * 16 * 16);
    for (const Kernel& kernel : all(layer_forward(model, small))) EXPECT_EQ(kernel.executed, 1.0) << kernel.name;
}

TEST(layer_forward, sequence_parallelism_divides_norms_and_residuals_only) {
    const Transformer model = plain(1, 64, 4, 128);
    Shard shard = small;
    const Kernels whole = all(layer_forward(model, shard));
    shard.sequence_parallel = SequenceParallel::on;
    const Kernels divided = all(layer_forward(model, shard));
    ASSERT_EQ(names(whole), names(divided));
    for (std::size_t i = 0; i < whole.size(); ++i) {
        const bool normed = whole[i].name.ends_with("norm") || whole[i].name.ends_with("residual");
        EXPECT_EQ(whole[i].bytes.value, divided[i].bytes.value * (normed ? 2 : 1)) << whole[i].name;
    }
}

TEST(layer_forward, the_core_is_a_part_of_attention) {
    EXPECT_TRUE(rc::check([] {
        const std::uint32_t t = any_tensor();
        const LayerKernels layer = layer_forward(any_model(t), any_shard(t));
        const auto same = [](const Kernel& a, const Kernel& b) { return a.name == b.name && a.bytes == b.bytes; };
        const auto found = std::search(layer.attention.begin(), layer.attention.end(), layer.attention_core.begin(),
                                       layer.attention_core.end(), same);
        RC_ASSERT(found != layer.attention.end());
    }));
}

TEST(head_forward, divides_the_padded_vocabulary) {
    Transformer model = plain(1, 64, 4, 50257);
    const Kernels head = head_forward(model, small);  // 50432 rows on two ranks
    EXPECT_EQ(find(head, "logits").n, 25216);
    EXPECT_EQ(find(head, "logits").m, 32);
    EXPECT_EQ(find(head, "logits").k, 64);
    EXPECT_EQ(find(head, "cross entropy").bytes.value, 38.0 * 32 * 25216);
    const Kernels back = head_backward(model, small);
    EXPECT_EQ(find(back, "cross entropy gradient").bytes.value, 14.0 * 32 * 25216);
    EXPECT_EQ(flops(back), 2 * flops(head));
}

// Operands of one byte and 1/32 of it for scales, results of two; what is cast is read once and written both ways.
TEST(head_forward, has_narrow_products_where_they_are_asked_for) {
    Transformer model = plain(1, 64, 4, 50257);
    Shard narrow = small;
    narrow.casting = Casting::mxfp8, narrow.narrow_output = true;
    const Kernels head = head_forward(model, narrow), back = head_backward(model, narrow);
    const double rows = 32, outputs = 25216, inputs = 64, byte = 1.0 + 1.0 / 32;
    for (const Kernel& product :
         {find(head, "logits"), find(back, "logits input gradient"), find(back, "logits weight gradient")}) {
        EXPECT_TRUE(product.parameters) << product.name;
        const double result = 2.0 * product.m * product.n;
        EXPECT_DOUBLE_EQ(product.bytes.value, (product.m + product.n) * product.k * byte + result) << product.name;
    }
    EXPECT_DOUBLE_EQ(find(head, "cast logits input").bytes.value, rows * inputs * (2 + 2 * byte));
    EXPECT_DOUBLE_EQ(find(back, "cast logits gradient").bytes.value, rows * outputs * (2 + 2 * byte));
    EXPECT_EQ(flops(head), flops(head_forward(model, small)));
}

TEST(embedding_forward, moves_rows_and_multiplies_nothing) {
    Transformer model = plain(1, 64, 4, 256);
    EXPECT_EQ(bytes(embedding_forward(model, small)), 2 * 32 * 64 * 2.0);
    EXPECT_EQ(flops(embedding_forward(model, small)) + flops(embedding_backward(model, small)), 0.0);
    model.positions = Positions::learned;
    EXPECT_EQ(bytes(embedding_forward(model, small)), 4 * 32 * 64 * 2.0);
}

TEST(embedding_backward, clears_the_gradient_of_the_rank_s_rows) {
    const Transformer model = plain(1, 64, 4, 256);
    EXPECT_EQ(bytes(embedding_backward(model, small)), (3 * 32 * 64 + 128 * 64) * 2.0);
}

}  // namespace
}  // namespace weft
