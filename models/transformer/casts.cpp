// Products in 8 or 4 bits as Transformer Engine runs them (module/layernorm_linear.py, module/linear.py). On Hopper the
// tensor cores take 8-bit operands only with the inner dimension contiguous, so that a product whose operand lies in
// the other order needs it transposed, or cast a second time:
//   forward          input x weight
//   input gradient   output gradient x weight transposed
//   weight gradient  output gradient transposed x input transposed
// A frozen weight has no such gradient, and input and output gradient are cast for one product each.
#include <algorithm>

#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recipes.hpp"

namespace weft {
namespace {

constexpr double wide = 2.0;  // bytes per element

// Its norm writes the input of the product, and casts it as it does.
bool normalised(Piece piece, const Transformer& model) {
    return model.norm_placement != NormPlacement::post && (piece == Piece::qkv || piece == Piece::mlp_up);
}

// The gradient of its output comes in shares of the tokens, each cast before they are gathered.
bool gathered(Piece piece, const Shard& shard) {
    const bool row_parallel = piece == Piece::projection || piece == Piece::mlp_down || piece == Piece::shared_down;
    return row_parallel && shard.sequence_parallel == SequenceParallel::on;
}

using Position = std::vector<Kernel>::iterator;
Position next_product(std::vector<Kernel>& kernels, Position from) {
    return std::find_if(from, kernels.end(), [](const Kernel& kernel) { return kernel.parameters; });
}

// Puts before each product what `casts(product)` makes of it.
template <class Casts>
void before_products(std::vector<Kernel>& kernels, double bytes, Casts casts) {
    for (Position at = next_product(kernels, kernels.begin()); at != kernels.end();) {
        narrow(*at, bytes);
        const std::vector<Kernel> extra = casts(*at);
        at = kernels.insert(at, extra.begin(), extra.end()) + static_cast<std::ptrdiff_t>(extra.size()) + 1;
        at = next_product(kernels, at);
    }
}

}  // namespace

void narrow(Kernel& gemm, double bytes) {
    gemm.bytes = {((gemm.m * gemm.k + gemm.k * gemm.n) * bytes + gemm.m * gemm.n * wide) * gemm.count};
}

void add_casts(LayerPiece& piece, const Transformer& model, const Shard& shard) {
    const Recipe recipe = recipe_of(shard.casting);
    const double cast = recipe.bytes;
    const bool shares = gathered(piece.piece, shard), transposes = recipe.second == SecondForm::transposed;
    const bool frozen = piece.weight_backward.empty();
    const double reads = recipe.reads * wide, forms = frozen ? cast : recipe.written();
    // Transformer Engine, ops/fused/grouped_mlp.py: the first product casts what the second one takes.
    const auto comes_cast = [&shard](const Kernel& gemm) {
        return shard.fuses_experts && (gemm.name == "experts down" || gemm.name == "experts up input gradient");
    };
    before_products(piece.forward, cast, [&](const Kernel& gemm) -> std::vector<Kernel> {
        if (comes_cast(gemm)) return {};
        const double input = gemm.count * gemm.m * gemm.k;
        if (!normalised(piece.piece, model)) return {memory_kernel("cast input", input, reads + forms)};
        if (recipe.reads_of_norm == 0.0) return {};
        const bool own = shard.sequence_parallel == SequenceParallel::on;  // the share that it normalises
        return {memory_kernel("cast input", input / (own ? shard.tensor : 1), recipe.reads_of_norm * wide + forms)};
    });
    before_products(piece.input_backward, cast, [&](const Kernel& gemm) -> std::vector<Kernel> {
        if (comes_cast(gemm)) return {};
        const double gradient = gemm.count * gemm.m * gemm.k;
        if (shares) return {memory_kernel("cast gradient", gradient / shard.tensor, reads + forms)};
        if (frozen) return {memory_kernel("cast gradient", gradient, reads + cast)};
        return {memory_kernel("cast and transpose gradient", gradient, reads + 2.0 * cast)};
    });
    before_products(piece.weight_backward, cast, [&](const Kernel& gemm) -> std::vector<Kernel> {
        if (!transposes) return {};
        std::vector<Kernel> casts{memory_kernel("transpose input", gemm.count * gemm.k * gemm.n, 2.0 * cast)};
        if (shares) casts.push_back(memory_kernel("transpose gradient", gemm.count * gemm.m * gemm.k, 2.0 * cast));
        return casts;
    });
}

// Passes over memory that a program without fused kernels makes on top of those that layer_pieces counts, kernel by
// kernel; and the two that ALiBi costs attention that is not fused.
//
// GPT-NeoX (commit e48b0c45, megatron/model): rotary embedding in bf16 is PyTorch's own kernels
// (positional_embeddings.py, apply_rotary_pos_emb_torch), and the bias of a block's output is added on its own
// (bias_dropout_fusion is off by default; fused_bias_dropout.py, bias_dropout_add).
// Megatron-DeepSpeed and GPT-NeoX: ALiBi's slopes are baddbmm's first operand (megatron/model/transformer.py). PyTorch
// copies them to every score before the product (aten/src/ATen/native/cuda/Blas.cpp, baddbmm_out_cuda_impl), which then
// reads what it adds to.

namespace {

constexpr double fused_rotary_passes = 2.0;  // of them, in the fused count

LayerPiece* find(std::vector<LayerPiece>& pieces, Piece which) {
    return first_of(pieces, [&](const LayerPiece& each) { return each.piece == which; });
}

void add_rotary(LayerPiece& qkv, const ShardSizes& size) {
    const double rotated = size.tokens * size.rotated;
    qkv.forward.push_back(
        memory_kernel("unfused rotary", (rotary_passes - fused_rotary_passes) * rotated, size.element_bytes));
    qkv.input_backward.insert(
        qkv.input_backward.begin(),
        memory_kernel("unfused rotary gradient", (rotary_gradient_passes - fused_rotary_passes) * rotated,
                      size.element_bytes));
}

// The sum of output and bias is written, and read again for the residual; its gradient moves nothing.
void add_bias(LayerPiece& piece, const ShardSizes& size, std::string_view name) {
    piece.forward.insert(piece.forward.begin(), memory_kernel(name, 2.0 * size.own_state, size.element_bytes));
}

void add_alibi(LayerPiece& core, const ShardSizes& size) {
    core.forward.insert(core.forward.begin(), memory_kernel("alibi", 2.0 * size.scores, size.element_bytes));
}

}  // namespace

void add_unfused_passes(std::vector<LayerPiece>& pieces, const Transformer& model, LayerKind kind, const Shard& shard) {
    const ShardSizes size(model, shard);
    const bool alibi = model.mixer == Mixer::attention && model.positions == Positions::alibi;
    if (alibi && shard.attention == AttentionCore::unfused) {
        add_alibi(*find(pieces, Piece::core), size);
    }
    if (shard.element_wise == ElementWise::fused) return;
    if (rotates(model, kind)) add_rotary(*find(pieces, Piece::qkv), size);
    LayerPiece* const post_norm = model.parallel_residual ? nullptr : find(pieces, Piece::post_norm);
    LayerPiece& last = *find(pieces, Piece::residual);
    if (model.biases.projection && find(pieces, Piece::projection) != nullptr) {
        add_bias(post_norm != nullptr ? *post_norm : last, size, "attention bias");
    }
    const bool mlp = find(pieces, Piece::mlp_down) != nullptr, routes = find(pieces, Piece::router) != nullptr;
    if ((mlp && model.biases.mlp) || (routes && model.biases.experts)) {
        add_bias(last, size, "mlp bias");
    }
}

}  // namespace weft
