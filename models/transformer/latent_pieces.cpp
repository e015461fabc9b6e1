// Queries, keys and values of multi-head latent attention (DeepSeek-V2, 2405.04434, section 2.1), in Megatron-core's
// order of work (transformer/multi_latent_attention.py). The maps down are not divided over tensor ranks.
#include "models/transformer/kernel_parts.hpp"

namespace weft {
namespace {

void add_norm(LayerPiece& piece, std::string_view name, std::string_view gradient, const ShardSizes& size,
              double width) {
    piece.forward.push_back(memory_kernel(name, 2.0 * size.tokens * width, size.element_bytes));
    piece.input_backward.push_back(memory_kernel(gradient, 3.0 * size.tokens * width, size.element_bytes));
}

void add_queries(LayerPiece& piece, const Transformer& model, const ShardSizes& size) {
    const double rank = model.latent.q_rank, e = size.element_bytes;
    if (model.latent.q_rank > 0) {
        add_linear(piece,
                   {.forward = "query down",
                    .input_gradient = "query down input gradient",
                    .weight_gradient = "query down weight gradient",
                    .bias_gradient = "query down bias gradient",
                    .biased = model.biases.qkv,
                    .rows = size.tokens,
                    .inputs = size.hidden,
                    .outputs = rank},
                   e);
        add_norm(piece, "query norm", "query norm gradient", size, rank);
    }
    add_linear(piece,
               {.forward = "query up",
                .input_gradient = "query up input gradient",
                .weight_gradient = "query up weight gradient",
                .bias_gradient = "query up bias gradient",
                .biased = model.biases.qkv,
                .rows = size.tokens,
                .inputs = model.latent.q_rank > 0 ? rank : size.hidden,
                .outputs = size.queries},
               e);
}

void add_keys_and_values(LayerPiece& piece, const Transformer& model, const Shard& shard, const ShardSizes& size) {
    const LatentAttention& latent = model.latent;
    const double heads = static_cast<double>(model.heads) / shard.tensor, e = size.element_bytes;
    add_linear(piece,
               {.forward = "key-value down",
                .input_gradient = "key-value down input gradient",
                .weight_gradient = "key-value down weight gradient",
                .bias_gradient = "key-value down bias gradient",
                .biased = model.biases.qkv,
                .rows = size.tokens,
                .inputs = size.hidden,
                .outputs = 1.0 * latent.kv_rank + latent.rope_size},
               e);
    add_norm(piece, "key-value norm", "key-value norm gradient", size, latent.kv_rank);
    add_linear(piece,
               {.forward = "key-value up",
                .input_gradient = "key-value up input gradient",
                .weight_gradient = "key-value up weight gradient",
                .bias_gradient = "key-value up bias gradient",
                .biased = model.biases.qkv,
                .rows = size.tokens,
                .inputs = 1.0 * latent.kv_rank,
                .outputs = heads * (1.0 * latent.nope_size + latent.value_size)},
               e);
}

}  // namespace

// Rotation, and the assembly of contiguous queries, keys and values from the parts, each read and written once.
LayerPiece latent_piece(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    LayerPiece piece = piece_of(Piece::qkv, "qkv");
    const double assembled = 2.0 * size.tokens * size.qkv, rotated = 2.0 * size.tokens * size.rotated;
    piece.input_backward = {memory_kernel("heads gradient", assembled, size.element_bytes)};
    if (model.positions == Positions::rotary) {
        piece.input_backward.push_back(memory_kernel("rotary gradient", rotated, size.element_bytes));
    }
    add_queries(piece, model, size);
    add_keys_and_values(piece, model, shard, size);
    if (model.positions == Positions::rotary) {
        piece.forward.push_back(memory_kernel("rotary", rotated, size.element_bytes));
    }
    piece.forward.push_back(memory_kernel("heads", assembled, size.element_bytes));
    return piece;
}

}  // namespace weft
