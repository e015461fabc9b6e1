// Scores, softmax and weighted sum of the values: one fused kernel, or three. A context rank has 1 / context of the
// queries and meets every key and value. Dropout of the probabilities is a pass of its own between three kernels; a
// fused kernel draws its random numbers again in backward and moves no mask.
//
// In a layer with a window a fused kernel skips what is out of it, as it skips the masked half, and what is of other
// documents; three kernels compute every score and mask it.
#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

// Flash attention (Dao et al. 2022, 2205.14135): two products forward, five backward (the scores again, then the
// gradients of values, scores, queries and keys) where FLOPs are counted as four; the masked half is skipped. Half of
// the products counted are over the size of queries and keys, half over that of the values.
constexpr double flash_forward_executed = 0.5;
constexpr double flash_backward_executed = 0.5 * 5.0 / 4.0;

// Packed documents are so many shorter sequences, as long as the one that a token is in, on average.
Kernel flash_attention(std::string_view name, const Transformer& model, LayerKind kind, const Shard& shard,
                       const ShardSizes& size, double products, double moved, double executed) {
    const PackedAttention& packing = shard.packing;
    const double whole = packing.share > 0 ? packing.share : 1.0;
    const double share = !is_windowed(kind)  ? whole
                         : packing.share > 0 ? packing.windowed_share
                                             : window_share(model.window, shard.sequence);
    Kernel kernel = memory_kernel(name, moved, size.element_bytes);
    kernel.kind = KernelKind::attention;
    kernel.count = size.heads / whole;
    kernel.k = model.head_size;
    kernel.m = size.scores / (size.heads * shard.sequence) * whole;
    kernel.n = shard.sequence * share;
    kernel.flops = {products * share * size.scores * (model.head_size + value_size(model))};
    kernel.executed = executed * (is_windowed(kind) ? packing.windowed_slowest : packing.slowest);
    kernel.core = shard.attention;
    return kernel;
}

LayerPiece flash_core(const Transformer& model, LayerKind kind, const Shard& shard) {
    const ShardSizes size(model, shard);
    const double keys_and_values = (size.qkv - size.queries) * shard.context;
    const double moved = size.tokens * (size.queries + size.context + keys_and_values);
    LayerPiece piece = piece_of(Piece::core, {});
    piece.forward = {flash_attention("attention core", model, kind, shard, size, 2.0, moved, flash_forward_executed)};
    piece.input_backward = {flash_attention("attention core gradient", model, kind, shard, size, 4.0,
                                            2.0 * moved,  // and gradients
                                            flash_backward_executed)};
    piece.input_backward.front().kind = KernelKind::attention_backward;
    return piece;
}

}  // namespace

LayerPiece core_piece(const Transformer& model, LayerKind kind, const Shard& shard) {
    if (shard.attention != AttentionCore::unfused) return flash_core(model, kind, shard);
    const ShardSizes size(model, shard);
    const double e = size.element_bytes, keys = shard.sequence, queries = keys / shard.context;
    const double d = model.head_size, v = value_size(model);
    LayerPiece piece = piece_of(Piece::core, {});
    const bool drops = shard.dropout == Dropout::on;
    piece.forward = {gemm_kernel("scores", queries, keys, d, e, size.heads),
                     memory_kernel("softmax", 2.0 * size.scores, e)};
    if (drops) piece.forward.push_back(dropout_kernel("attention dropout", size.scores, e));
    piece.forward.push_back(gemm_kernel("context", queries, v, keys, e, size.heads));
    piece.input_backward = {
        gemm_kernel("context weight gradient", keys, v, queries, e, size.heads),  // of the values
        gemm_kernel("context input gradient", queries, keys, v, e, size.heads)};  // of the probabilities
    std::vector<Kernel>& backward = piece.input_backward;
    if (drops) backward.push_back(dropout_kernel("attention dropout gradient", size.scores, e));
    backward.push_back(memory_kernel("softmax gradient", 3.0 * size.scores, e));
    backward.push_back(gemm_kernel("scores input gradient", queries, d, keys, e, size.heads));   // of the queries
    backward.push_back(gemm_kernel("scores weight gradient", keys, d, queries, e, size.heads));  // of the keys
    return piece;
}

}  // namespace weft
