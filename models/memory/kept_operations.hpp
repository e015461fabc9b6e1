// Recomputation by operations, as torchtitan has it (selective_ac_option = "op"): a layer is a checkpoint, and of what
// its forward makes the results of some operations are kept, so that they are not made again.
#pragma once

#include <string_view>
#include <vector>

#include "models/transformer/kernels.hpp"

namespace weft {

// A product with parameters as PyTorch runs it: queries, keys and values apart, and both halves of a gated map.
struct KeptProduct {
    std::string_view kernel;  // that has it
    double outputs = 0;       // per token, on one tensor rank
    bool kept = false;
    bool used = false;  // by backward, as it is; else by what is computed again
};

// In forward order. torchtitan 238fa9953, distributed/activation_checkpoint.py (_apply_op_sac) keeps, of
// models/*/infra/parallelize.py (_op_sac_save_list), fused attention, reduce-scatters, all-to-alls (but for Qwen3's),
// and of products every other one, the first of a layer among them. Grouped products of experts are not in the list,
// and the router's is left out of the count (per_op_sac_force_recompute_mm_shapes_by_fqns).
std::vector<KeptProduct> layer_products(const Transformer& model, LayerKind kind, const Shard& shard);

// Of a piece's forward, what runs again: all but attention and, of its products, those that are kept.
std::vector<Kernel> kernels_again(const Transformer& model, LayerKind kind, const Shard& shard,
                                  const LayerPiece& piece);

}  // namespace weft
