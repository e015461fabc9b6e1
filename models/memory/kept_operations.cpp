#include "models/memory/memory.hpp"

#include "models/transformer/kernel_parts.hpp"
#include "models/transformer/recurrence.hpp"

namespace weft {
namespace {

class Products {
  public:
    enum class Used : bool { no, yes };

    void add(std::string_view kernel, double outputs, Used used) {
        const bool kept = products_.size() % 2 == 0;
        products_.push_back({.kernel = kernel, .outputs = outputs, .kept = kept, .used = used == Used::yes});
    }
    std::vector<KeptProduct> all() && { return std::move(products_); }

  private:
    std::vector<KeptProduct> products_;
};

// Rotation makes other queries and keys of them; norms take them as they are.
void add_plain(const Transformer& model, const ShardSizes& size, double tensor, Products& products) {
    const bool used = model.query_key_norm != QueryKeyNorm::none || model.positions != Positions::rotary;
    const auto rotated = used ? Products::Used::yes : Products::Used::no;
    products.add("qkv", size.queries, rotated);
    products.add("qkv", static_cast<double>(key_width(model)) / tensor, rotated);
    products.add("qkv", static_cast<double>(value_width(model)) / tensor, Products::Used::yes);
}

void add_latent(const Transformer& model, const ShardSizes& size, double tensor, Products& products) {
    const LatentAttention& latent = model.latent;
    if (latent.q_rank > 0) products.add("query down", latent.q_rank, Products::Used::yes);
    products.add("query up", size.queries, Products::Used::no);
    products.add("key-value down", 1.0 * latent.kv_rank + latent.rope_size, Products::Used::yes);
    products.add("key-value up", model.heads * (1.0 * latent.nope_size + latent.value_size) / tensor,
                 Products::Used::no);
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
    Products products;
    if (is_recurrent(model.mixer)) {
        for (const RecurrentMap& map : recurrent_maps(model)) {
            products.add(map.names.forward, map.outputs_on(tensor), Products::Used::yes);
        }
    } else if (model.mixer == Mixer::attention) {
        model.has_latent_attention() ? add_latent(model, size, tensor, products)
                                     : add_plain(model, size, tensor, products);
    }
    if (model.mixer != Mixer::none) products.add("dense", size.hidden, Products::Used::no);
    const auto mlp = [&](std::string_view up, std::string_view down, double width) {
        if (model.gated) products.add(up, width, Products::Used::yes);
        products.add(up, width, Products::Used::yes);
        products.add(down, size.hidden, Products::Used::no);
    };
    if (has_mlp(model, kind)) {
        mlp("h_to_4h", "4h_to_h", size.ffn);
    } else if (has_experts(kind) && model.experts.shared > 0) {
        mlp("shared experts up", "shared experts down", ExpertSizes(model, shard).shared_ffn);
    }
    return std::move(products).all();
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
    }
    return again;
}

}  // namespace weft
