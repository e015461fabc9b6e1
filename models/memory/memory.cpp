#include "models/memory/memory.hpp"

#include <algorithm>
#include <array>

#include "models/transformer/encoder.hpp"
#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recipes.hpp"
#include "models/transformer/recurrence.hpp"

namespace weft {
namespace {

// Elements alive at the moments of backward around an MLP, beyond what the layer keeps, without the gradient that comes
// past it: rows of `width` go in and out, `inputs` and `outputs` are around its activation function, and `made` the
// gradients of the two maps.
double around_mlp(double rows, double width, double inputs, double outputs, double made) {
    if (outputs == 0) return rows * width;
    const double of_second = made * outputs / (inputs + outputs);
    const double second_map = rows * (width + outputs);
    const double function = rows * inputs + of_second;  // the kept output is gone, its gradient in its place
    const double first_map = rows * (width - outputs) + made;
    return std::max({second_map, function, first_map});
}

// Of gradients, beside that of the hidden state, which is there throughout as this rank's own share.
struct Transients {
    Bytes hidden, mlp, attention;
};

Transients backward_transients(const Transformer& model, LayerKind kind, const Shard& shard, const Inventory& inventory,
                               const MadeGradients& made) {
    if (!model.kinds.empty())
        return backward_transients(of_kind(model, kind), own_kind(kind), of_kind(model, kind, shard), inventory, made);
    const ShardSizes size(model, shard);
    const double e = size.element_bytes, maps = made.mlp.value / e;
    const bool divided = shard.sequence_parallel == SequenceParallel::on && shard.tensor > 1;
    const double whole = divided ? size.hidden : 0.0;  // gathered, beyond the own share
    double mlp = 0;
    if (has_mlp(model, kind)) {
        mlp = std::max(size.tokens * (whole + size.ffn), around_mlp(size.tokens, 0.0, size.ffn_inputs, size.ffn, maps));
    } else if (has_experts(kind)) {
        const ExpertSizes expert(model, shard);
        const double returned = (expert.dispatched + expert.received()) * expert.hidden;
        const double own = around_mlp(expert.received(), expert.hidden, expert.inputs, expert.ffn, maps);
        const double shared = around_mlp(size.tokens, whole, expert.shared_inputs, expert.shared_ffn, maps);
        mlp = std::max({returned, own, shared});
    }
    const bool scored = model.mixer == Mixer::attention && shard.attention == AttentionCore::unfused;
    const double mixed = model.mixer == Mixer::none ? 0.0 : size.tokens * (size.qkv + size.context);
    const double core = scored ? 2.0 * size.scores : mixed;
    return {{size.own_state * residual_bytes(shard, inventory)}, {mlp * e}, Bytes{core * e} + made.all};
}

struct Halves {
    Bytes attention, mlp;
    Bytes both() const { return attention + mlp; }
};

Halves halves(const std::vector<SavedTensor>& tensors) {
    Halves sum;
    for (const SavedTensor& tensor : tensors) {
        (tensor.half == LayerHalf::mlp ? sum.mlp : sum.attention) += tensor.bytes;
    }
    return sum;
}

Bytes bytes_of(const std::vector<SavedTensor>& tensors) { return sum_of<Bytes>(tensors, &SavedTensor::bytes); }

}  // namespace

Bytes layer_activations(const Transformer& model, LayerKind kind, const Shard& shard, const Inventory& inventory) {
    return bytes_of(saved_tensors(model, kind, shard, inventory));
}

Bytes layer_workspace(const Transformer& model, LayerKind kind, const Shard& shard, const Inventory& inventory,
                      const MadeGradients& made) {
    if (runs_forward_alone(model, kind, shard.trained)) return {};
    Inventory everything = inventory;
    everything.recompute = Recompute::none;
    const Halves all = halves(saved_tensors(model, kind, shard, everything));
    const Halves kept = halves(saved_tensors(model, kind, shard, inventory));
    const Transients gradients = backward_transients(model, kind, shard, inventory, made);
    // What is computed again beside results that are kept takes the place of those that only it had a use for.
    Halves used = kept;
    if (inventory.recompute == Recompute::operations) {
        auto tensors = saved_tensors(model, kind, shard, inventory);
        std::erase_if(tensors, [](const SavedTensor& tensor) { return tensor.name == products_of_recomputation; });
        used = halves(tensors);
    }
    const bool by_parts = inventory.recompute == Recompute::selective;
    const Bytes in_mlp = by_parts ? all.mlp - kept.mlp : all.both() - used.both();
    const Bytes in_attention = all.attention - used.both();
    return gradients.hidden + std::max(in_mlp + gradients.mlp, in_attention + gradients.attention);
}

Bytes embedding_activations(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    constexpr double token_bytes = 8.0;  // an int64 per token, for the gradient's scatter
    constexpr double mask_bytes = 1.0;
    const double mask = shard.dropout == Dropout::on ? size.own_state * mask_bytes : 0.0;
    const double norm = model.embedding_norm ? size.own_state * size.element_bytes : 0.0;  // its input
    return Bytes{mask + norm + size.tokens * token_bytes} + encoder_ends_activations(model, shard);
}

Bytes head_activations(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    constexpr double softmax_bytes = 4.0;
    const double kept = keeps_logits(shard.cross_entropy) ? size.element_bytes : softmax_bytes;
    const double inputs = shard.trained.trains("output layer") ? 2.0 : 1.0;
    const double taught = model.teacher.empty() ? 0.0 : softmax_bytes;  // the teacher's probabilities
    return {inputs * size.own_state * size.element_bytes +
            size.tokens * vocabulary_share(model, shard) * (kept + taught)};
}

Bytes head_workspace(const Transformer& model, const Shard& shard) {
    const ShardSizes size(model, shard);
    const double vocabulary = vocabulary_share(model, shard);
    const bool divided = shard.sequence_parallel == SequenceParallel::on && shard.tensor > 1;
    const double inputs = size.hidden_state * (divided ? 2.0 : 1.0);
    const double logits = shard.cross_entropy == CrossEntropy::fused ? 0.0 : size.tokens * vocabulary;
    const double weight = shard.trained.trains("output layer") ? vocabulary * size.hidden : 0.0;
    const Bytes in_products{(inputs + logits + weight) * size.element_bytes};
    if (shard.cross_entropy != CrossEntropy::autograd) return in_products;
    constexpr double wide = 4.0;
    const double gradients = shard.tensor > 1 ? 3.0 : 2.0;
    const Bytes freed{size.tokens * vocabulary * wide};
    return std::max(Bytes{size.tokens * vocabulary * wide * gradients}, in_products - freed);
}

Bytes matrix_library_workspace(const Transformer& model) {
    constexpr Bytes workspace = 32_MiB;
    const double workspaces = model.experts.count > 0 ? 6.0 : 2.0;
    return workspace * workspaces;
}

std::string_view place_name(FullestAt at) {
    constexpr std::array<std::string_view, 5> names{"at the end of the forward pass", "at the loss",
                                                    "in the backward pass", "at the end of the backward pass",
                                                    "in the optimizer"};
    return names[static_cast<std::size_t>(at)];
}

namespace {

// Rotation makes other queries and keys of them; norms take them as they are.
void add_plain(const Transformer& model, const ShardSizes& size, double tensor, std::vector<KeptProduct>& products) {
    const bool rotated = model.query_key_norm != QueryKeyNorm::none || model.positions != Positions::rotary;
    products.push_back({.kernel = "qkv", .outputs = size.queries, .used = rotated});
    products.push_back({.kernel = "qkv", .outputs = static_cast<double>(key_width(model)) / tensor, .used = rotated});
    products.push_back({.kernel = "qkv", .outputs = static_cast<double>(value_width(model)) / tensor, .used = true});
}

void add_latent(const Transformer& model, const ShardSizes& size, double tensor, std::vector<KeptProduct>& products) {
    const LatentAttention& latent = model.latent;
    if (latent.q_rank > 0) products.push_back({.kernel = "query down", .outputs = 1.0 * latent.q_rank, .used = true});
    products.push_back({.kernel = "query up", .outputs = size.queries});
    products.push_back({.kernel = "key-value down", .outputs = 1.0 * latent.kv_rank + latent.rope_size, .used = true});
    products.push_back(
        {.kernel = "key-value up", .outputs = model.heads * (1.0 * latent.nope_size + latent.value_size) / tensor});
}

// 0: nothing of the product runs again.
double share_again(const std::vector<KeptProduct>& products, std::string_view kernel) {
    double all = 0, again = 0;
    for (const KeptProduct& product : products) {
        if (product.kernel != kernel) continue;
        all += product.outputs;
        if (!product.kept) again += product.outputs;
    }
    return all == 0 ? 1.0 : again / all;
}

}  // namespace

std::vector<KeptProduct> layer_products(const Transformer& model, LayerKind kind, const Shard& shard) {
    if (!model.kinds.empty()) return layer_products(of_kind(model, kind), own_kind(kind), of_kind(model, kind, shard));
    const ShardSizes size(model, shard);
    const double tensor = shard.tensor;
    std::vector<KeptProduct> products;
    if (is_recurrent(model.mixer)) {
        for (const RecurrentMap& map : recurrent_maps(model)) {
            products.push_back({.kernel = map.names.forward, .outputs = map.outputs_on(tensor), .used = true});
        }
    } else if (model.mixer == Mixer::attention) {
        model.has_latent_attention() ? add_latent(model, size, tensor, products)
                                     : add_plain(model, size, tensor, products);
    }
    if (model.mixer != Mixer::none) products.push_back({.kernel = "dense", .outputs = size.hidden});
    const auto mlp = [&](std::string_view up, std::string_view down, double width) {
        if (model.gated) products.push_back({.kernel = up, .outputs = width, .used = true});
        products.push_back({.kernel = up, .outputs = width, .used = true});
        products.push_back({.kernel = down, .outputs = size.hidden});
    };
    if (has_mlp(model, kind)) {
        mlp("h_to_4h", "4h_to_h", size.ffn);
    } else if (has_experts(kind) && model.experts.shared > 0) {
        mlp("shared experts up", "shared experts down", ExpertSizes(model, shard).shared_ffn);
    }
    for (std::size_t i = 0; i < products.size(); i += 2) products[i].kept = true;
    // A compiler keeps nothing that backward has no use for, as what leaves the MLP.
    const bool ends_in_mlp = has_mlp(model, kind) || (has_experts(kind) && model.experts.shared > 0);
    if (shard.compile != Compile::off && ends_in_mlp) products.back().kept = false;
    return products;
}

std::vector<Kernel> kernels_again(const Transformer& model, LayerKind kind, const Shard& shard,
                                  const LayerPiece& piece) {
    const std::vector<KeptProduct> products = layer_products(model, kind, shard);
    std::vector<Kernel> again;
    for (const Kernel& kernel : piece.forward) {
        if (kernel.kind == KernelKind::attention) continue;
        const double share = kernel.parameters ? share_again(products, kernel.name) : 1.0;
        if (share == 1.0) again.push_back(kernel);
        if (share == 0.0 || share == 1.0) continue;
        again.push_back(gemm_kernel(kernel.name, kernel.m, kernel.n * share, kernel.k, shard.element_bytes));
        again.back().parameters = true;
        if (shard.casting != Casting::none) narrow(again.back(), recipe_of(shard.casting).bytes);
    }
    return again;
}

}  // namespace weft
