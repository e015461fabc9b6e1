// From a model object, in a catalog file or inside a job, to a Transformer.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/transformer/transformer.hpp"
#include "sim/io/embedded.hpp"
#include "sim/io/extends.hpp"
#include "sim/io/shipped.hpp"

namespace weft {
namespace {

void read_heads(Field& field, Transformer& model) {
    model.heads = field.count("heads");
    model.kv_heads = field.count("kv_heads", model.heads);
    field.error_if(model.heads % model.kv_heads != 0, "kv_heads",
                   "{} attention heads cannot be shared out to {} key-value heads", model.heads, model.kv_heads);
    if (field.has("head_size")) {
        model.head_size = field.count("head_size");
    } else if (field.has("hidden") && field.has("heads") && model.hidden % model.heads != 0) {
        field.error("heads", "a hidden size of {} cannot be divided by {} heads; give head_size", model.hidden,
                    model.heads);
    } else {
        model.head_size = std::max(1U, model.hidden / model.heads);
    }
}

// Every head has keys and values of its own, made from the shared latent vector.
void read_latent_attention(Field& field, Transformer& model) {
    for (const std::string_view key : {"kv_heads", "head_size"}) {
        if (field.has(key))
            field.error(key, "latent_attention says what keys and values a head has; give no " + std::string(key));
    }
    Field latent = field.object("latent_attention");
    model.latent.kv_rank = latent.count("kv_rank");
    model.latent.q_rank = latent.whole("q_rank", 0);
    model.latent.nope_size = latent.count("nope_size");
    model.latent.rope_size = latent.count("rope_size");
    model.latent.value_size = latent.count("value_size");
    latent.done();
    constexpr std::uint32_t most = 1U << 20;  // three orders of magnitude beyond any published model
    for (const auto& [key, size] : {std::pair{"kv_rank", model.latent.kv_rank},
                                    {"q_rank", model.latent.q_rank},
                                    {"nope_size", model.latent.nope_size},
                                    {"rope_size", model.latent.rope_size},
                                    {"value_size", model.latent.value_size}}) {
        if (size > most) latent.error(key, "expected at most {}, got {}", most, size);
    }
    model.heads = field.count("heads");
    model.kv_heads = model.heads;
    model.head_size = std::min(model.latent.nope_size, most) + std::min(model.latent.rope_size, most);
}

// A flag, or the names of the maps.
Biases read_biases(Field& field) {
    constexpr std::string_view key = "biases";
    if (!field.has(key)) return true;
    if (field.is_flag(key)) return field.flag(key);
    Biases biases = false;
    for (Field& element : field.list(key)) {
        const std::string word = element.as_text();
        const auto map = std::ranges::find(bias_maps, word, &BiasMap::name);
        if (map != bias_maps.end()) {
            biases.*map->member = true;
        } else if (!word.empty()) {
            field.error(
                key, "expected true, false or names out of qkv, projection, mlp, experts, router and head, got \"{}\"",
                word);
        }
    }
    return biases;
}

void read_norms(Field& field, Transformer& model) {
    model.norm = field.enumerator("norm", Norm::layer_norm);
    model.norm_weight = field.flag("norm_weight", true);
    model.norm_bias = field.flag("norm_bias", model.norm == Norm::layer_norm && model.norm_weight);
    if (model.norm_bias && model.norm == Norm::rms_norm) field.error("norm_bias", "an rms_norm has no bias");
    if (model.norm_bias && !model.norm_weight) field.error("norm_bias", "a norm without weight has no bias");
    model.norm_placement = field.enumerator("norm_placement", NormPlacement::pre);
    const bool several = model.norm_placement >= NormPlacement::post;
    if (model.norm_placement == NormPlacement::shared && !model.parallel_residual) {
        field.error("norm_placement", "attention and MLP share a norm only with parallel_residual");
    } else if (several && model.parallel_residual) {
        field.error("norm_placement", "with parallel_residual norms are pre or shared");
    }
    model.embedding_norm = field.flag("embedding_norm", false);
}

void read_position_table(Field& field, Transformer& model) {
    model.positions = field.enumerator("positions", Positions::rotary);
    if (model.positions == Positions::learned) {
        model.positions_length = field.count("positions_length");
    } else if (field.has("positions_length")) {
        field.error("positions_length", "only a model with learned positions has a position table");
    }
}

std::uint32_t default_ffn_hidden(Field& field, const Transformer& model) {
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max() / 4;
    if (model.hidden <= most) return 4 * model.hidden;
    if (!field.has("ffn_hidden")) field.error("hidden", "expected at most {} without ffn_hidden", most);
    return 1;
}

Experts read_experts(Field field, const Transformer& model) {
    Experts experts;
    constexpr std::uint32_t most = 1U << 16;  // an order of magnitude beyond any published model
    experts.count = field.count("count");
    if (experts.count > most) {
        field.error("count", "expected at most {} experts, got {}", most, experts.count);
        experts.count = most;
    }
    experts.top_k = field.count("top_k", experts.top_k);
    field.error_if(field.has("count") && experts.top_k > experts.count, "top_k",
                   "a token cannot go to {} of {} experts", experts.top_k, experts.count);
    experts.latent = field.whole("latent", 0);
    experts.ffn_hidden = field.count("ffn_hidden", model.ffn_hidden);
    experts.shared = field.whole("shared", 0);
    experts.shared_ffn_hidden = field.count("shared_ffn_hidden", experts.ffn_hidden);
    field.error_if(experts.shared == 0 && field.has("shared_ffn_hidden"), "shared_ffn_hidden",
                   "only a model with shared experts has a size of them");
    experts.first_dense = field.whole("first_dense", 0);
    field.error_if(experts.first_dense >= model.layers, "first_dense",
                   "{} dense layers of {} leave none to the experts", experts.first_dense, model.layers);
    experts.every = field.count("every", experts.every);
    experts.balancing_bias = field.flag("balancing_bias", false);
    experts.groups = field.count("groups", experts.groups);
    experts.token_groups = field.count("token_groups", experts.groups);
    field.error_if(field.has("count") && experts.count % experts.groups != 0, "groups",
                   "{} groups of {} experts are not alike", experts.groups, experts.count);
    if (experts.token_groups > experts.groups) {
        field.error("token_groups", "a token cannot choose {} of {} groups", experts.token_groups, experts.groups);
    } else if (field.has("count") &&
               std::uint64_t{experts.top_k} * experts.groups > std::uint64_t{experts.token_groups} * experts.count) {
        field.error("token_groups", "{} of {} groups have no {} experts", experts.token_groups, experts.groups,
                    experts.top_k);
    }
    experts.clamped = field.flag("clamped", false);
    if (experts.clamped && !model.gated) field.error("clamped", "only a gated activation is clamped");
    experts.shared_gate = field.flag("shared_gate", false);
    field.error_if(experts.shared_gate && experts.shared == 0, "shared_gate",
                   "only a model with shared experts has a gate of them");
    field.done();
    return experts;
}

// The layers of an encoder become a kind of their own, and those of the model one, too.
void read_encoder(Field field, Transformer& model) {
    const auto bounded = [&](std::string_view key, std::uint32_t value, std::uint32_t most = 1U << 18) {
        if (value > most) field.error(key, "expected at most {}, got {}", most, value);
        return std::min(value, most);
    };
    Transformer own;
    Encoder& encoder = model.encoder;
    own.of = LayerOf::encoder;
    encoder.layers = bounded("layers", field.count("layers"), 1024);
    own.hidden = bounded("hidden", field.count("hidden"));
    read_heads(field, own);
    own.ffn_hidden = bounded("ffn_hidden", field.count("ffn_hidden", 4 * own.hidden));
    own.gated = field.flag("gated", false);
    own.biases = field.flag("biases", true);
    own.norm = field.enumerator("norm", Norm::layer_norm);
    own.norm_bias = own.norm == Norm::layer_norm;
    own.positions = field.enumerator("positions", Positions::none);
    if (field.has("attention_window")) own.window = read_window(field.object("attention_window"));
    encoder.tokens = bounded("tokens", field.count("tokens"));
    encoder.patch = bounded("patch", field.count("patch"));
    encoder.patch_bias = field.flag("patch_bias", true);
    encoder.class_tokens = bounded("class_tokens", field.whole("class_tokens", 0), encoder.tokens);
    if (own.positions == Positions::learned) encoder.positions = encoder.seen();
    encoder.positions = bounded("positions_length", field.whole("positions_length", encoder.positions));
    encoder.outer_norms = bounded("outer_norms", field.whole("outer_norms", 0), 2);
    encoder.merge = field.count("merge", 1);
    encoder.pool = field.count("pool", 1);
    if (encoder.tokens % (std::uint64_t{encoder.merge} * encoder.pool) != 0)
        field.error("merge", "{} patches cannot be put together by {}", encoder.tokens,
                    std::uint64_t{encoder.merge} * encoder.pool);
    for (Field& width : field.list_if_given("projector"))
        encoder.projector.push_back(bounded("projector", width.as_whole()));
    encoder.projector_bias = field.flag("projector_bias", true);
    encoder.projector_norm = field.enumerator("projector_norm", ProjectorNorm::none);
    encoder.deep = bounded("deep", field.whole("deep", 0), encoder.layers);
    field.done({{field.path(), model_synonyms()}});
    if (model.kinds.empty()) {
        model.kinds.push_back({"language", model});
        model.pattern = {0};
    }
    model.kinds.push_back({"encoder", own});
    model.layers += encoder.layers;
}

// Exact counts are uint64; sizes beyond any machine are mistakes (a token count in place of a width, say).
void check_size(Field& field, const Transformer& model) {
    const auto width_of = [](const Layer& layer) {
        const Experts& experts = layer.experts;
        const Recurrence& shape = layer.recurrence;
        const double ffn = 1.0 * layer.ffn_hidden + 1.0 * experts.count * (experts.ffn_hidden + 1.0) +
                           1.0 * experts.shared * experts.shared_ffn_hidden + 2.0 * experts.latent;
        return 2.0 * layer.heads * layer.head_size + 2.0 * layer.kv_heads * layer.head_size + 3.0 * ffn + 8.0 +
               1.0 * layer.heads * layer.value_size + 2.0 * layer.latent.q_rank + 2.0 * layer.latent.kv_rank +
               4.0 * shape.heads * shape.value_size + 4.0 * shape.key_heads * shape.key_size +
               2.0 * layer.indexer.heads * layer.indexer.head_size;
    };
    double width = width_of(model);
    for (const NamedLayer& kind : model.kinds) width = std::max(width, width_of(kind.layer));
    const double hidden = model.hidden;
    const double vocabulary = 2.0 * (1.0 * model.vocabulary + model.vocabulary_multiple) + model.positions_length;
    constexpr double most = 1e17;
    const double predictions = 2.0 * model.mtp_layers * (width + hidden);
    if (hidden * (vocabulary + 2.0 * model.layers * width + predictions) <= most) return;
    field.error("", "these sizes make more than {:.0e} parameters", most);
}

}  // namespace

Transformer read_transformer(Field field, std::string name) {
    Transformer model;
    model.name = field.text("name", name);
    field.text("title", "");
    field.text("source", "");
    for (Field& each : field.list_if_given("also")) each.as_text();  // for sim/io/shipped
    constexpr std::uint32_t most_layers = 1'000'000;                 // tables by layer are no matter then
    model.layers = field.count("layers");
    if (model.layers > most_layers) {
        field.error("layers", fmt::format("expected at most {}, got {}", most_layers, model.layers));
        model.layers = 1;
    }
    constexpr std::uint32_t most_predictions = 64;  // an order of magnitude beyond any published model
    model.mtp_layers = field.whole("mtp_layers", 0);
    if (model.mtp_layers > most_predictions) {
        field.error("mtp_layers", "expected at most {}, got {}", most_predictions, model.mtp_layers);
        model.mtp_layers = 0;
    }
    model.hidden = field.count("hidden");
    if (field.has("latent_attention")) {
        read_latent_attention(field, model);
    } else {
        read_heads(field, model);
    }
    model.ffn_hidden = field.count("ffn_hidden", default_ffn_hidden(field, model));
    model.gated = field.flag("gated", false);
    model.vocabulary = field.count("vocabulary");
    model.vocabulary_multiple = field.count("vocabulary_multiple", model.vocabulary_multiple);
    model.tied_embeddings = field.flag("tied_embeddings", false);
    model.parallel_residual = field.flag("parallel_residual", false);
    model.biases = read_biases(field);
    field.error_if(model.biases.head && model.tied_embeddings, "biases",
                   "a head with a bias needs an output layer of its own; give tied_embeddings = false");
    read_mixer(field, model);
    read_position_table(field, model);
    read_norms(field, model);
    if (field.has("experts")) model.experts = read_experts(field.object("experts"), model);
    if (field.has("layer_kinds") || field.has("layer_pattern")) read_kinds(field, model);
    if (field.has("encoder")) read_encoder(field.object("encoder"), model);
    if (field.has("teacher")) {
        try {
            NamedDocument file = open_extended(embedded::catalog(), "model", field.text("teacher"));
            if (file.document.root().has("teacher")) {  // itself, perhaps
                field.error("teacher", "a teacher with a teacher of its own is not known");
            } else {
                model.teacher.push_back(read_transformer(file.document.root(), file.name));
                file.document.check();
            }
        } catch (const ConfigError& error) {
            field.error("teacher", "{}", error.diagnostics().front().message);
        }
    }
    check_size(field, model);
    field.done({{field.path(), model_synonyms()}});
    return model;
}

Transformer load_transformer(std::string_view name) {
    NamedDocument file = open_extended(embedded::catalog(), "model", name);
    Transformer model = read_transformer(file.document.root(), file.name);
    file.document.check();
    return model;
}

// Rows of keys.json.
std::span<const Synonym> model_synonyms() {
    static const auto rows = nlohmann::json::parse(embedded::model_keys().front().text);
    static const std::vector<Synonym> synonyms = [] {
        std::vector<Synonym> all;
        for (const auto& row : rows.items()) {
            if (!row.value().contains("elsewhere")) continue;
            for (const auto& word : row.value()["elsewhere"])
                all.push_back({word.get_ref<const std::string&>(), row.key()});
        }
        return all;
    }();
    return synonyms;
}

std::vector<std::string> model_names() { return shipped_names(embedded::catalog()); }

}  // namespace weft
