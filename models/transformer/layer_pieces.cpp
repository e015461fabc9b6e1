// One transformer layer, piece by piece. Element-wise kernels are counted as they are usually fused: bias into GELU,
// bias and dropout into the residual addition, scaling and mask into the softmax. Backward, dropout is a pass of its
// own.
#include "models/transformer/recipes.hpp"
#include "models/transformer/recurrence.hpp"

namespace weft {

// Scores, softmax and weighted sum of the values: one fused kernel, or three. A context rank has 1 / context of the
// queries and meets every key and value. Dropout of the probabilities is a pass of its own between three kernels; a
// fused kernel draws its random numbers again in backward and moves no mask.
//
// In a layer with a window a fused kernel skips what is out of it, as it skips the masked half, and what is of other
// documents; three kernels compute every score and mask it.

namespace {

// Flash attention (Dao et al. 2022, 2205.14135): two products forward, five backward (the scores again, then the
// gradients of values, scores, queries and keys) where FLOPs are counted as four; the masked half is skipped. Half of
// the products counted are over the size of queries and keys, half over that of the values.
constexpr double flash_forward_executed = 0.5;
constexpr double flash_backward_executed = 0.5 * 5.0 / 4.0;

// 128 queries, which a tile has, meet as many keys beyond a window as they are. In 8 bits backward skips no tile,
// whatever the window, and takes twice as long as that half does without one (NVIDIA/cudnn-frontend 3929da2e,
// benchmark/sdpa_benchmark_training/results/gpt_oss: windows of 128 on GB200 and GB300, 2,048 to 32,768 tokens).
constexpr double window_edge_keys = 128.0;
constexpr double whole_backward_of_window = 2.1;

// Packed documents are so many shorter sequences, as long as the one that a token is in, on average.
Kernel flash_attention(KernelKind pass, const Transformer& model, LayerKind kind, const Shard& shard) {
    const ShardSizes size(model, shard);
    const bool backward = pass == KernelKind::attention_backward;
    const PackedAttention& packing = shard.packing;
    const double whole = packing.share > 0 ? packing.share : 1.0;
    const double seen = model.indexer.heads > 0 ? std::min(whole, window_share(model.indexer.chosen(), shard.sequence))
                        : !is_windowed(kind)    ? whole
                        : packing.share > 0     ? packing.windowed_share
                                                : window_share(model.window, shard.sequence);
    const bool skips = !(backward && shard.narrow_attention), slides = is_windowed(kind) && !model.window.chunked;
    const double share = skips ? seen : whole;
    Kernel kernel{.name = backward ? "attention core gradient" : "attention core", .kind = pass};
    kernel.count = size.heads / whole;
    kernel.k = (model.head_size + value_size(model)) / 2.0;
    kernel.m = size.scores / (size.heads * shard.sequence) * whole;
    kernel.n = shard.sequence * share;
    kernel.flops = {(backward ? 4.0 : 2.0) * seen * size.scores * (model.head_size + value_size(model))};
    const double half = model.of == LayerOf::encoder ? 2.0 : 1.0;  // none is masked
    kernel.executed = half * (backward ? flash_backward_executed : flash_forward_executed) * share / seen *
                      (is_windowed(kind) ? packing.windowed_slowest : packing.slowest);
    if (slides) {
        kernel.executed *=
            skips ? std::min(whole / seen, 1.0 + window_edge_keys / model.window.tokens) : whole_backward_of_window;
    }
    kernel.core = shard.attention;
    kernel.narrow = shard.narrow_attention;
    // Queries, keys and values, whose gradients are as long; the output, which backward reads with its own gradient.
    const double taken = size.tokens * (size.queries + (size.qkv - size.queries) * shard.context);
    const double output = size.tokens * size.context;
    const double wide = size.element_bytes, operand = kernel.narrow ? attention_recipe(shard.casting).bytes : wide;
    kernel.bytes = {taken * operand + output * wide + (backward ? taken * wide + output * operand : 0.0)};
    return kernel;
}

// Casts as Transformer Engine makes them (pytorch/attention/dot_product_attention/backends.py, FusedAttnFunc): what
// attention takes, and the gradient of its output. By delayed scaling the output and the three gradients come in 8
// bits, and are cast back.
void add_attention_casts(LayerPiece& core, const ShardSizes& size, Casting casting) {
    const Recipe recipe = attention_recipe(casting);
    const double wide = size.element_bytes;
    const double cast = recipe.reads * wide + recipe.written(), back = recipe.bytes + wide;
    const double taken = size.tokens * size.qkv, output = size.tokens * size.context;
    core.forward.insert(core.forward.begin(), memory_kernel("cast queries, keys and values", taken, cast));
    core.input_backward.insert(core.input_backward.begin(), memory_kernel("cast gradient of attention", output, cast));
    if (casting != Casting::delayed) return;
    core.forward.push_back(memory_kernel("cast attention back", output, back));
    core.input_backward.push_back(memory_kernel("cast gradients of attention back", taken, back));
}

LayerPiece flash_core(const Transformer& model, LayerKind kind, const Shard& shard) {
    LayerPiece piece = piece_of(Piece::core, {});
    piece.forward = {flash_attention(KernelKind::attention, model, kind, shard)};
    piece.input_backward = {flash_attention(KernelKind::attention_backward, model, kind, shard)};
    if (shard.narrow_attention) add_attention_casts(piece, ShardSizes(model, shard), shard.casting);
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

namespace {

// Of one norm of the hidden state, this rank's share.
Kernel norm(std::string_view name, const ShardSizes& size) {
    return memory_kernel(name, 2.0 * size.own_state, size.element_bytes);
}
Kernel norm_gradient(std::string_view name, const ShardSizes& size) {
    return memory_kernel(name, 3.0 * size.own_state, size.element_bytes);
}

bool norms_inputs(const Transformer& model) { return model.norm_placement != NormPlacement::post; }

LayerPiece input_norm(const Transformer& model, const ShardSizes& size) {
    LayerPiece piece = piece_of(Piece::input_norm, {});
    if (norms_inputs(model)) {
        piece.module = "input norm";
        piece.forward = {norm("input norm", size)};
        piece.input_backward = {norm_gradient("input norm gradient", size)};
    }
    // The gradient that came past the block is added; with parallel residuals both blocks' at once.
    const double addends = model.parallel_residual ? 3.0 : 2.0;
    piece.input_backward.push_back(
        memory_kernel("attention residual gradient", (addends + 1.0) * size.own_state, size.element_bytes));
    return piece;
}

// Llama 4's norm without weights belongs to its rotation (transformers modeling_llama4.py, Llama4TextAttention).
bool norms_queries(const Transformer& model, LayerKind kind) {
    if (model.query_key_norm == QueryKeyNorm::unweighted && model.positions == Positions::rotary) {
        return rotates(model, kind);
    }
    return model.query_key_norm != QueryKeyNorm::none;
}

LayerPiece qkv(const Transformer& model, LayerKind kind, const Shard& shard, const ShardSizes& size) {
    const double e = size.element_bytes, rotated = 2.0 * size.tokens * size.rotated;
    const bool rotary = rotates(model, kind), norms = norms_queries(model, kind);
    LayerPiece piece = piece_of(Piece::qkv, "qkv");
    const double normed = norms ? 2.0 * size.tokens * own_queries_and_keys(model, shard.tensor) : 0.0;
    if (rotary) piece.input_backward = {memory_kernel("rotary gradient", rotated, e)};
    if (normed > 0) {
        piece.input_backward.push_back(memory_kernel("query and key norm gradient", 1.5 * normed, e));
    }
    const double outputs = static_cast<double>(qkv_outputs(model)) / shard.tensor;
    add_map<"qkv">(piece, model.biases.qkv, {.rows = size.tokens, .inputs = size.hidden, .outputs = outputs}, e);
    if (normed > 0) piece.forward.push_back(memory_kernel("query and key norm", normed, e));
    if (rotary) piece.forward.push_back(memory_kernel("rotary", rotated, e));
    if (model.indexer.heads > 0) add_indexer_maps(piece, model, size);
    return piece;
}

// A gate weighs attention's output by the sigmoid of as many elements, whose gradient reads both again.
LayerPiece projection(const Transformer& model, const ShardSizes& size) {
    LayerPiece piece = piece_of(Piece::projection, "dense");
    const bool gated = model.attention_gate != AttentionGate::none && model.mixer == Mixer::attention;
    const double gate = size.tokens * size.context, e = size.element_bytes;
    if (gated) piece.forward = {memory_kernel("attention gate", 3.0 * gate, e)};
    add_map<"dense">(piece, model.biases.projection,
                     {.rows = size.tokens, .inputs = size.context, .outputs = size.hidden}, e);
    if (gated) piece.input_backward.push_back(memory_kernel("attention gate gradient", 5.0 * gate, e));
    return piece;
}

// Around the addition of attention's output to the residual: the norm of that output, and the norm of the sum.
LayerPiece post_norm(const Transformer& model, const ShardSizes& size) {
    const double e = size.element_bytes;
    LayerPiece piece = piece_of(Piece::post_norm, "post-attention norm");
    if (model.norm_placement == NormPlacement::shared) {
        piece.module = {};
        return piece;
    }
    if (norms_outputs(model)) piece.forward = {norm("attention output norm", size)};
    if (!model.parallel_residual) {
        piece.forward.push_back(memory_kernel("attention residual", size.own_state, 3.0 * e + size.mask_bytes));
    }
    if (norms_inputs(model)) {
        piece.forward.push_back(norm("post-attention norm", size));
        piece.input_backward = {norm_gradient("post-attention norm gradient", size)};
    }
    if (model.parallel_residual) return piece;
    piece.input_backward.push_back(memory_kernel("mlp residual gradient", 3.0 * size.own_state, e));
    if (size.mask_bytes > 0) {
        piece.input_backward.push_back(dropout_kernel("attention output dropout gradient", size.own_state, e));
    }
    if (norms_outputs(model)) piece.input_backward.push_back(norm_gradient("attention output norm gradient", size));
    return piece;
}

LayerPiece mlp_up(const Transformer& model, const ShardSizes& size) {
    const double e = size.element_bytes;
    LayerPiece piece = piece_of(Piece::mlp_up, "h_to_4h");
    piece.input_backward = {activation_gradient(model, size.tokens, size.ffn_inputs, size.ffn, e)};
    add_map<"h_to_4h">(piece, model.biases.mlp,
                       {.rows = size.tokens, .inputs = size.hidden, .outputs = size.ffn_inputs}, e);
    piece.forward.push_back(activation(model, size.tokens, size.ffn_inputs, size.ffn, e));
    return piece;
}

LayerPiece mlp_down(const Transformer& model, const ShardSizes& size) {
    LayerPiece piece = piece_of(Piece::mlp_down, "4h_to_h");
    add_map<"4h_to_h">(piece, model.biases.mlp, {.rows = size.tokens, .inputs = size.ffn, .outputs = size.hidden},
                       size.element_bytes);
    return piece;
}

// Backward it passes the gradient on, which the norms' pieces add. With parallel residuals both blocks' outputs are
// dropped out here.
LayerPiece residual(const Transformer& model, const ShardSizes& size) {
    const double e = size.element_bytes, blocks = model.parallel_residual ? 2.0 : 1.0;
    LayerPiece piece = piece_of(Piece::residual, {});
    if (norms_outputs(model)) {
        piece.module = "output norm";
        piece.forward = {norm("output norm", size)};
    }
    piece.forward.push_back(
        memory_kernel("mlp residual", size.own_state, (blocks + 2.0) * e + blocks * size.mask_bytes));
    if (size.mask_bytes > 0) {
        if (model.parallel_residual) {
            piece.input_backward = {dropout_kernel("attention output dropout gradient", size.own_state, e)};
        }
        piece.input_backward.push_back(dropout_kernel("mlp output dropout gradient", size.own_state, e));
    }
    if (norms_outputs(model)) piece.input_backward.push_back(norm_gradient("output norm gradient", size));
    return piece;
}

}  // namespace

std::vector<LayerPiece> layer_pieces(const Transformer& model, LayerKind kind, const Shard& shard) {
    if (!model.kinds.empty()) return layer_pieces(of_kind(model, kind), own_kind(kind), of_kind(model, kind, shard));
    const ShardSizes size(model, shard);
    std::vector<LayerPiece> pieces{input_norm(model, size)};
    if (is_recurrent(model.mixer)) {
        pieces.push_back(recurrent_maps_piece(model, shard));
        pieces.push_back(recurrent_core_piece(model, shard));
    } else if (model.mixer == Mixer::attention) {
        pieces.push_back(model.has_latent_attention() ? latent_piece(model, shard) : qkv(model, kind, shard, size));
        pieces.push_back(core_piece(model, kind, shard));
        if (model.indexer.heads > 0) add_indexer_scores(pieces.back(), model, shard);
    }
    const bool mixes = model.mixer != Mixer::none;
    if (mixes) pieces.push_back(projection(model, size));
    if (mixes && has_feed_forward(model, kind)) pieces.push_back(post_norm(model, size));
    if (has_mlp(model, kind)) {
        pieces.push_back(mlp_up(model, size));
        pieces.push_back(mlp_down(model, size));
    } else if (has_experts(kind)) {
        const std::vector<LayerPiece> experts = expert_pieces(model, shard);
        pieces.insert(pieces.end(), experts.begin(), experts.end());
    }
    pieces.push_back(residual(model, size));
    const bool eager = is_eager(shard) && shard.compile == Compile::off;
    if (eager) run_eagerly(pieces, model, kind, shard);
    freeze(pieces, shard.trained);
    if (!eager && shard.casting != Casting::none) {
        for (LayerPiece& piece : pieces) add_casts(piece, model, shard);
    }
    if (!eager) add_unfused_passes(pieces, model, kind, shard);
    add_adapters(pieces, model, shard);
    return pieces;
}

}  // namespace weft
