#include "models/memory/memory.hpp"

#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recipes.hpp"
#include "models/transformer/recurrence.hpp"

namespace weft {
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
    if (!model.kinds.empty()) return layer_products(of_kind(model, kind), own_kind(kind), shard);
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
