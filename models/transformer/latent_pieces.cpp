// What attention's piece of maps is where it is latent, and what an indexer adds to attention.
#include <algorithm>

#include "models/transformer/kernel_parts.hpp"

namespace weft {
// Queries, keys and values of multi-head latent attention (DeepSeek-V2, 2405.04434, section 2.1), in Megatron-core's
// order of work (transformer/multi_latent_attention.py). The maps down are not divided over tensor ranks.
namespace {

void add_norm(LayerPiece& piece, std::string_view name, std::string_view gradient, const ShardSizes& size,
              double width) {
    piece.forward.push_back(memory_kernel(name, 2.0 * size.tokens * width, size.element_bytes));
    piece.input_backward.push_back(memory_kernel(gradient, 3.0 * size.tokens * width, size.element_bytes));
}

void add_queries(LayerPiece& piece, const Transformer& model, const ShardSizes& size) {
    const double rank = model.latent.q_rank, e = size.element_bytes;
    if (model.latent.q_rank > 0) {
        add_map<"query down">(piece, model.biases.qkv, {.rows = size.tokens, .inputs = size.hidden, .outputs = rank},
                              e);
        add_norm(piece, "query norm", "query norm gradient", size, rank);
    }
    add_map<"query up">(
        piece, model.biases.qkv,
        {.rows = size.tokens, .inputs = model.latent.q_rank > 0 ? rank : size.hidden, .outputs = size.queries}, e);
}

void add_keys_and_values(LayerPiece& piece, const Transformer& model, const Shard& shard, const ShardSizes& size) {
    const LatentAttention& latent = model.latent;
    const double heads = static_cast<double>(model.heads) / shard.tensor, e = size.element_bytes;
    add_map<"key-value down">(
        piece, model.biases.qkv,
        {.rows = size.tokens, .inputs = size.hidden, .outputs = 1.0 * latent.kv_rank + latent.rope_size}, e);
    add_norm(piece, "key-value norm", "key-value norm gradient", size, latent.kv_rank);
    add_map<"key-value up">(piece, model.biases.qkv,
                            {.rows = size.tokens,
                             .inputs = 1.0 * latent.kv_rank,
                             .outputs = heads * (1.0 * latent.nope_size + latent.value_size)},
                            e);
}

}  // namespace

void add_indexer_maps(LayerPiece& piece, const Transformer& model, const ShardSizes& size) {
    const bool latent = model.has_latent_attention();
    const double e = size.element_bytes, rank = latent && model.latent.q_rank > 0 ? model.latent.q_rank : size.hidden;
    const double key = model.indexer.head_size, heads = model.indexer.heads;
    add_map<"indexer queries">(piece, false, {.rows = size.tokens, .inputs = rank, .outputs = heads * key}, e);
    add_map<"indexer key">(piece, false, {.rows = size.tokens, .inputs = size.hidden, .outputs = key}, e);
    if (latent) {
        add_map<"indexer weights">(piece, false, {.rows = size.tokens, .inputs = size.hidden, .outputs = heads}, e);
    }
    add_norm(piece, "indexer norm", "indexer norm gradient", size, key);
}

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
    if (const double gate = static_cast<double>(gate_width(model)) / shard.tensor; gate > 0) {
        add_map<"attention gate map">(piece, false, {.rows = size.tokens, .inputs = size.hidden, .outputs = gate},
                                      size.element_bytes);
    }
    if (model.indexer.heads > 0) add_indexer_maps(piece, model, size);
    if (model.positions == Positions::rotary) {
        piece.forward.push_back(memory_kernel("rotary", rotated, size.element_bytes));
    }
    piece.forward.push_back(memory_kernel("heads", assembled, size.element_bytes));
    return piece;
}

// The indexer scores every pair of a token and one before it for each of its heads, adds them up weighted, and chooses
// (DeepSeek-V3.2, section 2.1): one product, whose sums over heads stay on the chip, and a pass over the sums in fp32.
// It learns from attention's own probabilities over what it chose: backward is two products over the chosen pairs.
void add_indexer_scores(LayerPiece& core, const Transformer& model, const Shard& shard) {
    const Indexer& indexer = model.indexer;
    const ShardSizes size(model, shard);
    const double pairs = size.tokens * shard.sequence,
                 chosen = size.tokens * std::min(indexer.chosen().tokens, shard.sequence);
    constexpr double fp32 = 4.0;
    Kernel scores = gemm_kernel("indexer scores", size.tokens, shard.sequence, indexer.head_size, size.element_bytes,
                                indexer.heads);
    scores.executed = 0.5;  // masked blocks are skipped
    scores.bytes = {size.tokens * indexer.heads * indexer.head_size * size.element_bytes +
                    pairs / 2.0 / indexer.block * fp32};
    Kernel gradient = gemm_kernel("indexer scores gradient", size.tokens, chosen / size.tokens, indexer.head_size,
                                  size.element_bytes, 2.0 * indexer.heads);
    gradient.bytes = {2.0 * chosen * fp32};
    core.forward.insert(core.forward.begin(),
                        {scores, memory_kernel("indexer choice", pairs / 2.0 / indexer.block, fp32)});
    core.input_backward.push_back(memory_kernel("indexer loss", 4.0 * chosen, fp32));
    core.input_backward.push_back(gradient);
}

}  // namespace weft
