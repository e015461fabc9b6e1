#include "workloads/formats/torchtitan/torchtitan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

std::vector<TorchtitanFlavour> all_flavours() {
    std::vector<TorchtitanFlavour> flavours;
    Document document = format_table("flavours");
    Field root = document.root();
    for (const std::string& model : root.keys()) {
        if (!root.is_object(model)) continue;
        Field of_model = root.object(model);
        for (const std::string& flavour : of_model.keys()) {
            const Field object = of_model.object(flavour);
            flavours.push_back({model, flavour, object.as_json(), read_transformer(object, flavour)});
        }
    }
    document.check();
    return flavours;
}

std::string_view without_mask(std::string_view flavour) {
    for (const std::string_view ending : {"_flex", "_varlen", "_flex_attn", "_varlen_attn"}) {
        if (flavour.ends_with(ending)) return flavour.substr(0, flavour.size() - ending.size());
    }
    return flavour;
}

// What torchtitan's arguments of a model say.
auto shape_of(const Transformer& model) {
    const Experts& own = model.experts;
    const Experts experts = own.count == 0 ? Experts{}
                                           : Experts{.count = own.count,
                                                     .top_k = own.top_k,
                                                     .ffn_hidden = own.ffn_hidden,
                                                     .latent = own.latent,
                                                     .shared = own.shared,
                                                     .shared_ffn_hidden = own.shared > 0 ? own.shared_ffn_hidden : 0,
                                                     .first_dense = own.first_dense,
                                                     .every = own.every};
    return std::tuple(model.layers, model.hidden, model.heads, model.kv_heads, model.head_size, model.latent,
                      model.ffn_hidden, model.vocabulary, model.vocabulary_multiple, model.gated,
                      model.biases == Biases(true), model.norm, model.positions, model.tied_embeddings,
                      model.parallel_residual, model.query_key_norm != QueryKeyNorm::none, experts, model.kinds,
                      model.mixer, model.attention_gate, model.indexer);
}

template <class Is>
const TorchtitanFlavour* find_flavour(Is is) {
    const auto all = torchtitan_flavours();
    const auto found = std::ranges::find_if(all, is);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::span<const TorchtitanFlavour> torchtitan_flavours() {
    static const std::vector<TorchtitanFlavour> flavours = all_flavours();
    return flavours;
}

const TorchtitanFlavour* find_torchtitan_flavour(std::string_view model, std::string_view flavour) {
    return find_flavour(
        [&](const TorchtitanFlavour& each) { return each.model == model && each.flavour == without_mask(flavour); });
}

const TorchtitanFlavour* torchtitan_flavour_of(const Transformer& shape) {
    return find_flavour([&](const TorchtitanFlavour& each) { return shape_of(each.shape) == shape_of(shape); });
}

std::string known_torchtitan_flavours() {
    std::string text;
    for (const TorchtitanFlavour& each : torchtitan_flavours())
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.model, each.flavour);
    return text;
}

}  // namespace weft
