// What torchtitan's recomputation by operations keeps, against its policy run over the operations of a Llama block.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/memory/memory.hpp"
#include "models/transformer/flops.hpp"
#include "tests/models/memory/dense_layer_memory.hpp"

namespace weft {
namespace {

using testing::layer_activations;
using testing::layer_workspace;

struct Operation {
    std::string name;
    double elements;  // of its result, per token
    double flops = 0;
};

// torchtitan 238fa9953 models/llama3/model/model.py, TransformerBlock.forward, in bf16, on one rank of `t`.
std::vector<Operation> llama_block(const Transformer& model, double t) {
    const double h = model.hidden, q = 1.0 * model.heads * model.head_size / t,
                 kv = 1.0 * model.kv_heads * model.head_size / t, f = model.ffn_hidden / t;
    const auto mm = [](double inputs, double outputs) { return Operation{"mm", outputs, 2 * inputs * outputs}; };
    std::vector<Operation> block{{"rms_norm", h / t},    mm(h, q), mm(h, kv), mm(h, kv), {"rotary", q + kv},
                                 {"flash_attention", q}, mm(q, h)};
    if (t > 1) block.push_back({"reduce_scatter", h / t});
    for (const Operation& one : std::vector<Operation>{
             {"add", h / t}, {"rms_norm", h / t}, mm(h, f), {"silu", f}, mm(h, f), {"mul", f}, mm(f, h)}) {
        block.push_back(one);
    }
    if (t > 1) block.push_back({"reduce_scatter", h / t});
    block.push_back({"add", h / t});
    return block;
}

struct Kept {
    double elements = 0, flops_again = 0;
};

// distributed/activation_checkpoint.py, _custom_policy: every operation of the list but every second mm.
Kept policy(const std::vector<Operation>& block) {
    Kept kept;
    int products = 0;
    for (const Operation& one : block) {
        if (one.name == "mm") ++products;
        const bool listed = one.name == "mm" || one.name == "flash_attention" || one.name == "reduce_scatter";
        if (listed && !(one.name == "mm" && products % 2 == 0)) {
            kept.elements += one.elements;
        } else {
            kept.flops_again += one.flops;
        }
    }
    return kept;
}

double flops_again(const Transformer& model, const Shard& shard) {
    Flops sum;
    for (const LayerPiece& piece : layer_pieces(model, LayerKind::dense, shard)) {
        for (const Kernel& kernel : kernels_again(model, LayerKind::dense, shard, piece)) sum += kernel.flops;
    }
    return sum.value;
}

TEST(kept_operations, are_those_of_the_policy) {
    for (const char* const name : {"llama3-8b", "llama3-70b", "llama2-7b"}) {
        for (const std::uint32_t t : {1U, 2U, 8U}) {
            const Transformer model = load_transformer(name);
            const Shard shard{.micro_batch = 2,
                              .sequence = 4096,
                              .tensor = t,
                              .sequence_parallel = t > 1 ? SequenceParallel::on : SequenceParallel::off};
            const Kept kept = policy(llama_block(model, t));
            const double tokens = 2.0 * 4096, input = model.hidden / double(t), statistics = 4.0 * model.heads / t;
            const Inventory inventory{.recompute = Recompute::operations};
            EXPECT_DOUBLE_EQ(layer_activations(model, LayerKind::dense, shard, inventory).value,
                             tokens * (2 * (input + kept.elements) + statistics))
                << name << " on " << t;
            EXPECT_DOUBLE_EQ(flops_again(model, shard), tokens * kept.flops_again) << name << " on " << t;
        }
    }
}

// More is kept than inputs of layers alone, and what is alive in backward comes to about as much as without: products
// that only what is computed again takes are there beside it, and go with it.
TEST(kept_operations, take_memory_between_all_and_nothing) {
    const Transformer model = load_transformer("llama3-8b");
    const Shard shard{.micro_batch = 1, .sequence = 8192};
    const auto kept = [&](Recompute recompute) { return layer_activations(model, shard, recompute).value; };
    const auto alive = [&](Recompute recompute) {
        return kept(recompute) + layer_workspace(model, shard, recompute).value;
    };
    EXPECT_LT(kept(Recompute::full), 0.2 * kept(Recompute::operations));
    EXPECT_LT(kept(Recompute::operations), 0.6 * kept(Recompute::none));
    EXPECT_GE(alive(Recompute::operations), alive(Recompute::none));
    EXPECT_LT(alive(Recompute::operations), 1.3 * alive(Recompute::none));
}

TEST(kept_operations, of_latent_attention_begin_with_the_map_down) {
    const Transformer model = load_transformer("deepseek-v3");
    std::vector<std::string_view> kept;
    for (const KeptProduct& product : layer_products(model, LayerKind::dense, {.sequence = 4096})) {
        if (product.kept) kept.push_back(product.kernel);
    }
    EXPECT_EQ(kept, (std::vector<std::string_view>{"query down", "key-value down", "dense", "h_to_4h"}));
}

// Of experts nothing is kept but what all-to-alls bring, and the products of the shared one in their turn: the sixth to
// eighth of a layer, of which the seventh stays.
TEST(kept_operations, of_experts_are_exchanges) {
    const Transformer model = load_transformer("deepseek-v3");
    const Shard shard{.sequence = 4096, .expert = 8};
    const auto kept = [&](const Shard& of) {
        return layer_activations(model, LayerKind::expert, of, {.recompute = Recompute::operations}).value;
    };
    Shard alone = shard;
    alone.expert = 1;
    const double rows = 4096.0 * model.experts.top_k, bytes = 2;
    EXPECT_DOUBLE_EQ(kept(shard) - kept(alone), 2 * rows * model.hidden * bytes);
    std::vector<std::string> again;
    for (const LayerPiece& piece : layer_pieces(model, LayerKind::expert, shard)) {
        if (piece.piece < Piece::router || piece.piece > Piece::shared_down) continue;
        for (const Kernel& kernel : kernels_again(model, LayerKind::expert, shard, piece)) {
            if (kernel.kind == KernelKind::gemm) again.emplace_back(kernel.name);
        }
    }
    EXPECT_EQ(again, (std::vector<std::string>{"router", "experts up", "experts down", "shared experts up",
                                               "shared experts down"}));
}

}  // namespace
}  // namespace weft
