// Shapes: pytorch/torchtitan torchtitan/models/{llama3,llama4,qwen3,deepseek_v3}/__init__.py and model/args.py at the
// start of 2026; llama2 as of 2024, torchtitan/models/llama/__init__.py. Widths of the MLP by the rule of its
// FeedForward: 8/3 of the hidden size, times ffn_dim_multiplier, rounded up to multiple_of.
#include "workloads/formats/torchtitan/flavours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weft {
namespace {

Transformer plain(std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads, std::uint32_t kv_heads,
                  std::uint32_t ffn_hidden, std::uint32_t vocabulary) {
    Transformer model;
    model.layers = layers;
    model.hidden = hidden;
    model.heads = heads;
    model.kv_heads = kv_heads;
    model.head_size = hidden / heads;
    model.ffn_hidden = ffn_hidden;
    model.vocabulary = vocabulary;
    model.gated = true;
    model.biases = false;
    model.norm = Norm::rms_norm;
    model.vocabulary_multiple = 1;
    return model;
}

Transformer qwen3(std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads, std::uint32_t kv_heads,
                  std::uint32_t ffn_hidden) {
    Transformer model = plain(layers, hidden, heads, kv_heads, ffn_hidden, 151936);
    model.head_size = 128;
    model.query_key_norm = QueryKeyNorm::per_head;
    model.tied_embeddings = hidden <= 2560;  // up to 4B
    return model;
}

Transformer with_experts(Transformer model, const Experts& experts) {
    model.experts = experts;
    model.experts.shared_ffn_hidden = experts.ffn_hidden;
    return model;
}

Transformer deepseek(Transformer model, std::uint32_t q_rank, const Experts& experts) {
    model.latent = {.kv_rank = 512, .q_rank = q_rank, .nope_size = 128, .rope_size = 64, .value_size = 128};
    model.head_size = model.latent.nope_size + model.latent.rope_size;
    model.tied_embeddings = false;
    return with_experts(std::move(model), experts);
}

std::vector<TorchtitanFlavour> all_flavours() {
    const Experts qwen3_small{.count = 128, .top_k = 8, .ffn_hidden = 768};
    const Experts qwen3_large{.count = 128, .top_k = 8, .ffn_hidden = 1536};
    Transformer qwen3_30b = qwen3(48, 2048, 32, 4, 6144);
    qwen3_30b.tied_embeddings = false;
    return {
        {"llama2", "7B", plain(32, 4096, 32, 32, 11008, 32000)},
        {"llama2", "13B", plain(40, 5120, 40, 40, 13824, 32000)},
        {"llama2", "70B", plain(80, 8192, 64, 8, 28672, 32000)},
        {"llama3", "debugmodel", plain(6, 256, 16, 16, 768, 2048)},
        {"llama3", "8B", plain(32, 4096, 32, 8, 14336, 128256)},
        {"llama3", "70B", plain(80, 8192, 64, 8, 28672, 128256)},
        {"llama3", "405B", plain(126, 16384, 128, 8, 53248, 128256)},
        {"llama4", "17bx16e",
         with_experts(plain(48, 5120, 40, 8, 16384, 202048), {.count = 16, .ffn_hidden = 8192, .shared = 1})},
        {"llama4", "17bx128e",
         with_experts(plain(48, 5120, 40, 8, 16384, 202048),
                      {.count = 128, .ffn_hidden = 8192, .shared = 1, .first_dense = 1, .every = 2})},
        {"qwen3", "0.6B", qwen3(28, 1024, 16, 8, 3072)},
        {"qwen3", "1.7B", qwen3(28, 2048, 16, 8, 6144)},
        {"qwen3", "4B", qwen3(36, 2560, 32, 8, 9728)},
        {"qwen3", "8B", qwen3(36, 4096, 32, 8, 12288)},
        {"qwen3", "14B", qwen3(40, 5120, 40, 8, 17408)},
        {"qwen3", "32B", qwen3(64, 5120, 64, 8, 25600)},
        {"qwen3", "30B-A3B", with_experts(qwen3_30b, qwen3_small)},
        {"qwen3", "235B-A22B", with_experts(qwen3(94, 4096, 64, 4, 12288), qwen3_large)},
        {"deepseek_v3", "16B",
         deepseek(plain(27, 2048, 16, 16, 10944, 102400), 0,
                  {.count = 64, .top_k = 6, .ffn_hidden = 1408, .shared = 2, .first_dense = 1})},
        {"deepseek_v3", "236B",
         deepseek(plain(60, 5120, 128, 128, 12288, 102400), 1536,
                  {.count = 160, .top_k = 6, .ffn_hidden = 1536, .shared = 2, .first_dense = 1})},
        {"deepseek_v3", "671B",
         deepseek(plain(61, 7168, 128, 128, 18432, 129280), 1536,
                  {.count = 256, .top_k = 8, .ffn_hidden = 2048, .shared = 1, .first_dense = 3})},
    };
}

std::string_view without_mask(std::string_view flavour) {
    for (const std::string_view ending : {"_flex", "_varlen", "_flex_attn", "_varlen_attn"}) {
        if (flavour.ends_with(ending)) return flavour.substr(0, flavour.size() - ending.size());
    }
    return flavour;
}

void put_experts(Draft& model, const Experts& experts, const Origin& origin) {
    Draft& object = model.object("experts");
    object.set("count", experts.count, origin);
    object.set("top_k", experts.top_k, origin);
    object.set("ffn_hidden", experts.ffn_hidden, origin);
    if (experts.shared > 0) {
        object.set("shared", experts.shared, origin);
        object.set("shared_ffn_hidden", experts.shared_ffn_hidden, origin);
    }
    if (experts.first_dense > 0) object.set("first_dense", experts.first_dense, origin);
    if (experts.every > 1) object.set("every", experts.every, origin);
}

std::string shape_text(const Transformer& shape) {
    Draft model;
    put_shape(model, shape, {});
    return model.json();
}

}  // namespace

std::span<const TorchtitanFlavour> torchtitan_flavours() {
    static const std::vector<TorchtitanFlavour> flavours = all_flavours();
    return flavours;
}

const TorchtitanFlavour* find_torchtitan_flavour(std::string_view model, std::string_view flavour) {
    const auto all = torchtitan_flavours();
    const auto found = std::ranges::find_if(all, [&](const TorchtitanFlavour& each) {
        return each.model == model && each.flavour == without_mask(flavour);
    });
    return found == all.end() ? nullptr : &*found;
}

const TorchtitanFlavour* torchtitan_flavour_of(const Transformer& shape) {
    const auto all = torchtitan_flavours();
    const auto found = std::ranges::find_if(
        all, [text = shape_text(shape)](const TorchtitanFlavour& each) { return shape_text(each.shape) == text; });
    return found == all.end() ? nullptr : &*found;
}

std::string known_torchtitan_flavours() {
    std::string text;
    for (const TorchtitanFlavour& each : torchtitan_flavours())
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", each.model, each.flavour);
    return text;
}

void put_shape(Draft& model, const Transformer& shape, const Origin& origin) {
    const auto positions = std::array{"rotary", "learned", "alibi", "none"};
    model.set("layers", shape.layers, origin);
    model.set("hidden", shape.hidden, origin);
    model.set("heads", shape.heads, origin);
    if (shape.has_latent_attention()) {
        Draft& latent = model.object("latent_attention");
        latent.set("kv_rank", shape.latent.kv_rank, origin);
        if (shape.latent.q_rank > 0) latent.set("q_rank", shape.latent.q_rank, origin);
        latent.set("nope_size", shape.latent.nope_size, origin);
        latent.set("rope_size", shape.latent.rope_size, origin);
        latent.set("value_size", shape.latent.value_size, origin);
    } else {
        model.set("kv_heads", shape.kv_heads, origin);
        model.set("head_size", shape.head_size, origin);
    }
    model.set("ffn_hidden", shape.ffn_hidden, origin);
    model.set("vocabulary", shape.vocabulary, origin);
    model.set("vocabulary_multiple", shape.vocabulary_multiple, origin);
    model.set("gated", shape.gated, origin);
    model.set("biases", shape.biases == Biases(true), origin);
    model.set("norm", shape.norm == Norm::rms_norm ? "rms_norm" : "layer_norm", origin);
    model.set("positions", positions.at(static_cast<std::size_t>(shape.positions)), origin);
    if (shape.positions == Positions::learned) model.set("positions_length", shape.positions_length, origin);
    if (shape.tied_embeddings) model.set("tied_embeddings", true, origin);
    if (shape.parallel_residual) model.set("parallel_residual", true, origin);
    if (shape.query_key_norm != QueryKeyNorm::none) model.set("query_key_norm", true, origin);
    if (shape.experts.count > 0) put_experts(model, shape.experts, origin);
}

}  // namespace weft
