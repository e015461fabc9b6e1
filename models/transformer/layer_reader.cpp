// The parts of a model object that speak of layers, or of kinds of them.
#include "models/transformer/transformer.hpp"

#include <utility>

namespace weft {
namespace {

QueryKeyNorm read_query_key_norm(Field& field, QueryKeyNorm otherwise) {
    constexpr std::string_view key = "query_key_norm";
    if (!field.is_text(key)) {
        const bool normed = field.flag(key, otherwise != QueryKeyNorm::none);
        return !normed ? QueryKeyNorm::none : field.has(key) ? QueryKeyNorm::per_head : otherwise;
    }
    const std::string text = field.choice(key, {"per_head", "whole", "unweighted"});
    if (text == "whole") return QueryKeyNorm::whole;
    return text == "unweighted" ? QueryKeyNorm::unweighted : QueryKeyNorm::per_head;
}

Recurrence read_recurrence(Field field) {
    Recurrence shape;
    shape.heads = field.count("heads");
    shape.key_heads = field.count("key_heads", shape.heads);
    shape.key_size = field.count("key_size");
    shape.value_size = field.count("value_size", shape.key_size);
    shape.convolution = field.whole("convolution", shape.convolution);
    shape.chunk = field.count("chunk", shape.chunk);
    shape.whole_gate = field.flag("whole_gate", false);
    field.error_if(field.has("heads") && shape.heads % shape.key_heads != 0, "key_heads",
                   "{} heads cannot be shared out to {} key heads", shape.heads, shape.key_heads);
    constexpr std::uint32_t most = 1U << 16;  // two orders of magnitude beyond any published model
    for (std::uint32_t* const size :
         {&shape.heads, &shape.key_heads, &shape.key_size, &shape.value_size, &shape.chunk}) {
        if (*size > most) field.error("", "expected sizes of at most {}, got {}", most, *size);
        *size = std::min(*size, most);
    }
    field.done();
    return shape;
}

}  // namespace

AttentionWindow read_window(Field field) {
    AttentionWindow window;
    window.tokens = field.count("tokens");
    window.chunked = field.flag("chunked", false);
    window.first_full = field.whole("first_full", 0);
    window.full_every = field.whole("full_every", 0);
    window.full_rotary = field.flag("full_rotary", true);
    if (window.full_every == 1) field.error("full_every", "leaves no layer with a window; expected 0 or at least 2");
    field.done();
    return window;
}

void read_mixer(Field& field, Layer& layer) {
    layer.mixer = field.enumerator("mixer", layer.mixer);
    if (field.has("recurrence")) layer.recurrence = read_recurrence(field.object("recurrence"));
    if (is_recurrent(layer.mixer) && layer.recurrence.heads == 0) {
        field.error("mixer", "{} needs a recurrence", enumerator_name(layer.mixer));
        layer.mixer = Mixer::none;
    }
    layer.value_size = field.whole("value_size", layer.value_size);
    layer.attention_sinks = field.flag("attention_sinks", layer.attention_sinks);
    layer.attention_gate = field.enumerator("attention_gate", layer.attention_gate);
    layer.keys_are_values = field.flag("keys_are_values", layer.keys_are_values);
    if (field.has("attention_window")) layer.window = read_window(field.object("attention_window"));
    layer.query_key_norm = read_query_key_norm(field, layer.query_key_norm);
    if (layer.has_latent_attention()) {
        if (layer.query_key_norm != QueryKeyNorm::none)
            field.error("query_key_norm", "latent attention has norms of its own");
        if (layer.attention_sinks) field.error("attention_sinks", "weft knows latent attention without sinks");
        if (layer.value_size > 0) field.error("value_size", "latent_attention says what size values have");
        if (layer.keys_are_values) field.error("keys_are_values", "latent attention makes keys and values apart");
    } else if (layer.keys_are_values && layer.value_size > 0 && layer.value_size != layer.head_size) {
        field.error("value_size", "keys that are values have their size");
    }
    if (!field.has("indexer")) return;
    Field indexer = field.object("indexer");
    layer.indexer.heads = indexer.count("heads");
    layer.indexer.head_size = indexer.count("head_size", layer.indexer.head_size);
    layer.indexer.top_k = indexer.count("top_k", layer.indexer.top_k);
    layer.indexer.block = indexer.count("block", layer.indexer.block);
    constexpr std::uint32_t most = 1U << 15;  // tokens of a choice stay below 2^32
    for (std::uint32_t* const size : {&layer.indexer.top_k, &layer.indexer.block}) {
        if (*size > most) indexer.error("", "expected at most {}, got {}", most, *size);
        *size = std::min(*size, most);
    }
    indexer.done();
}

// Whatever a kind leaves out is as in the model.
static NamedLayer read_kind(Field field, std::string name, const Layer& model) {
    enum class FeedForward : std::uint8_t { mlp, experts, none };
    NamedLayer kind{std::move(name), model};
    Layer& layer = kind.layer;
    if (!layer.has_latent_attention()) {
        layer.heads = field.count("heads", layer.heads);
        layer.kv_heads = field.count("kv_heads", std::min(layer.kv_heads, layer.heads));
        layer.head_size = field.count("head_size", layer.head_size);
        field.error_if(layer.heads % layer.kv_heads != 0, "kv_heads",
                       "{} attention heads cannot be shared out to {} key-value heads", layer.heads, layer.kv_heads);
    }
    layer.ffn_hidden = field.count("ffn_hidden", layer.ffn_hidden);
    layer.positions = field.enumerator("positions", layer.positions);
    if (layer.positions != model.positions &&
        (layer.positions != Positions::none || model.positions != Positions::rotary))
        field.error("positions", "a kind of layer has those of the model, or none where these are rotary");
    read_mixer(field, layer);
    const bool routes = model.experts.count > 0;
    const FeedForward feeds = field.enumerator("feed_forward", routes ? FeedForward::experts : FeedForward::mlp);
    if (feeds == FeedForward::experts && !routes) field.error("feed_forward", "the model has no experts");
    if (feeds != FeedForward::experts) layer.experts.count = 0;
    if (feeds == FeedForward::none) layer.ffn_hidden = 0;
    if (layer.mixer == Mixer::none && feeds == FeedForward::none) field.error("", "a layer of nothing");
    if (model.parallel_residual && (layer.mixer == Mixer::none || feeds == FeedForward::none))
        field.error("feed_forward", "with parallel_residual every layer has a mixer and a feed-forward");
    field.done({{field.path(), model_synonyms()}});
    return kind;
}

void read_kinds(Field& field, Transformer& model) {
    constexpr std::size_t most = 63;  // LayerKind is a byte
    Field kinds = field.object("layer_kinds");
    for (const std::string& name : kinds.keys()) {
        if (model.kinds.size() == most) return kinds.error(name, "expected at most {} kinds", most);
        model.kinds.push_back(read_kind(kinds.object(name), name, model));
    }
    const auto add = [&](const std::string& name) {
        const auto found = std::ranges::find(model.kinds, name, &NamedLayer::name);
        if (found == model.kinds.end()) {
            field.error("layer_pattern", "expected names of layer_kinds, got \"{}\"", name);
        } else {
            model.pattern.push_back(static_cast<std::uint8_t>(found - model.kinds.begin()));
        }
    };
    if (field.is_text("layer_pattern")) {
        for (const char letter : field.text("layer_pattern")) add(std::string(1, letter));
    } else {
        for (Field& name : field.list("layer_pattern")) add(name.as_text());
    }
    field.error_if(model.pattern.size() > model.layers, "layer_pattern",
                   "expected at most as many as {} layers, got {}", model.layers, model.pattern.size());
    if (model.kinds.empty()) field.error("layer_kinds", "expected at least one kind");
    if (!model.pattern.empty()) return;
    if (!field.has("layer_pattern") || model.kinds.empty())
        field.error("layer_pattern", "expected the kinds of layers");
    model.kinds.clear();
}

}  // namespace weft
