// Products in 8 bits as Transformer Engine runs them on Hopper, with delayed scaling (module/layernorm_linear.py,
// module/linear.py, release 1.x): scales come from the maxima of earlier steps, so a cast is one pass, and the tensor
// cores take 8-bit operands only with the inner dimension contiguous, so that a product whose operand lies the other
// way needs it transposed:
//   forward          input x weight
//   input gradient   output gradient x weight transposed
//   weight gradient  output gradient transposed x input transposed
// Casts and transposes of weights, and the reduction of maxima over ranks, happen once per step or are tiny: left out.
#include <algorithm>

#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

constexpr double wide = 2.0, eighth = 1.0;  // bytes per element

// Its norm writes the input of the product, and casts it as it does.
bool normalised(Piece piece, const Transformer& model) {
    return model.norm_placement != NormPlacement::post && (piece == Piece::qkv || piece == Piece::mlp_up);
}

// The gradient of its output comes in shares of the tokens, each cast before they are gathered.
bool gathered(Piece piece, const Shard& shard) {
    const bool row_parallel = piece == Piece::projection || piece == Piece::mlp_down || piece == Piece::shared_down;
    return row_parallel && shard.sequence_parallel == SequenceParallel::on;
}

// Both operands of 8 bits, the result of 16.
void narrow(Kernel& gemm) {
    gemm.bytes = {((gemm.m * gemm.k + gemm.k * gemm.n) * eighth + gemm.m * gemm.n * wide) * gemm.count};
}

using Position = std::vector<Kernel>::iterator;
Position next_product(std::vector<Kernel>& kernels, Position from) {
    return std::find_if(from, kernels.end(), [](const Kernel& kernel) { return kernel.parameters; });
}

// Puts before each product what `casts(product)` makes of it.
template <class Casts>
void before_products(std::vector<Kernel>& kernels, Casts casts) {
    for (Position at = next_product(kernels, kernels.begin()); at != kernels.end();) {
        narrow(*at);
        const std::vector<Kernel> extra = casts(*at);
        at = kernels.insert(at, extra.begin(), extra.end()) + static_cast<std::ptrdiff_t>(extra.size()) + 1;
        at = next_product(kernels, at);
    }
}

}  // namespace

void add_casts(LayerPiece& piece, const Transformer& model, const Shard& shard) {
    const bool shares = gathered(piece.piece, shard);
    before_products(piece.forward, [&](const Kernel& gemm) -> std::vector<Kernel> {
        if (normalised(piece.piece, model)) return {};
        return {memory_kernel("cast input", gemm.count * gemm.m * gemm.k, wide + eighth)};
    });
    before_products(piece.input_backward, [&](const Kernel& gemm) -> std::vector<Kernel> {
        const double gradient = gemm.count * gemm.m * gemm.k;
        if (shares) return {memory_kernel("cast gradient", gradient / shard.tensor, wide + eighth)};
        return {memory_kernel("cast and transpose gradient", gradient, wide + 2.0 * eighth)};
    });
    before_products(piece.weight_backward, [&](const Kernel& gemm) {
        std::vector<Kernel> casts{memory_kernel("transpose input", gemm.count * gemm.k * gemm.n, 2.0 * eighth)};
        if (shares) casts.push_back(memory_kernel("transpose gradient", gemm.count * gemm.m * gemm.k, 2.0 * eighth));
        return casts;
    });
}

}  // namespace weft
