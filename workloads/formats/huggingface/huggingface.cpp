// A model's config.json as Hugging Face's transformers writes it: huggingface/transformers, configuration_utils.py and
// models/*/configuration_*.py. What each class means by its keys is in families.json; what a layer has follows
// from there and from the keys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "workloads/formats/format.hpp"
#include "workloads/formats/huggingface/keys.hpp"
#include "workloads/formats/keys.hpp"

namespace weft::formats {
namespace {

bool is_huggingface_file(const SourceFile& file) {
    return is_json_object(file.text) &&
           (contains(file.text, "\"model_type\"") ||
            (contains(file.text, "\"architectures\"") && contains(file.text, "ForCausalLM\"")));
}

class HuggingFaceModel {
  public:
    HuggingFaceModel(Import& import, HuggingFaceKeys keys, const FormatOptions& options)
        : import_(import), object_(import.object), keys_(std::move(keys)), options_(options), terms_(keys_.terms()) {}

    void read() {
        sizes();
        attention();
        norms();
        mlp();
        experts();
        set_layers(keys_.layers_of_class(), keys_, object_);
        if (keys_.layers_of_class().kinds.empty()) window();
        object_.set_json("biases", biases_.empty() ? "false" : "[" + biases_ + "]", family_origin("biases"));
    }

  private:
    bool is(std::string_view term) const { return terms_.contains(term); }
    Origin family_origin(std::string_view what) const { return keys_.origin_of_class(what); }

    // The member `name` of the model from the size `key`; whether there was one.
    bool take(std::string_view key, std::string_view name) { return take(key, object_, name); }
    bool take(std::string_view key, Draft& to, std::string_view name) {
        const std::optional<HuggingFaceSize> size = keys_.size(key);
        if (!size || size->value == 0) return false;
        to.set(name, size->value, size->origin);
        return true;
    }
    double value(std::string_view key) { return keys_.size(key).value_or(HuggingFaceSize{}).value; }
    void require(std::string_view key, std::string_view name) {
        if (!take(key, name)) keys_.report_missing(key);
    }
    void add_bias(std::string_view map) {
        if (is(map)) biases_ += fmt::format("{}\"{}\"", biases_.empty() ? "" : ", ", map);
    }

    void sizes() {
        if (keys_.layers_of_class().by.empty() || keys_.size("layers")) require("layers", "layers");
        require("hidden", "hidden");
        require("heads", "heads");
        require("vocabulary", "vocabulary");
        if (options_.vocabulary > 0) object_.set("vocabulary", options_.vocabulary, unwritten("--vocabulary"));
        object_.set("vocabulary_multiple", 1, unwritten("tables are as large as they say"));
        const HuggingFaceSize tied =
            keys_.size("tied").value_or(HuggingFaceSize{1, family_origin("tie_word_embeddings")});
        object_.set("tied_embeddings", tied.value != 0, tied.origin);
    }

    void attention() {
        for (const std::string_view map : {"qkv", "projection", "mlp", "experts", "router", "head"}) add_bias(map);
        is("latent") ? latent_attention() : heads();
        if (is("norm_per_head")) object_.set("query_key_norm", "per_head", family_origin("query and key norms"));
        if (is("norm_whole")) object_.set("query_key_norm", "whole", family_origin("query and key norms"));
        if (is("norm_unweighted")) object_.set("query_key_norm", "unweighted", family_origin("query and key norms"));
        if (is("gate")) object_.set("attention_gate", "elements", family_origin("gate"));
        if (is("head_gate")) object_.set("attention_gate", "heads", family_origin("gate"));
        if (is("sinks")) object_.set("attention_sinks", true, family_origin("sinks"));
        const std::string_view positions = is("alibi")          ? "alibi"
                                           : is("no_positions") ? "none"
                                           : is("learned")      ? "learned"
                                                                : "rotary";
        object_.set("positions", positions, family_origin("positions"));
        if (positions != "learned") return;
        const HuggingFaceSize rows =
            keys_.size("positions").value_or(HuggingFaceSize{2048, family_origin("positions")});
        object_.set("positions_length", rows.value + (is("two_more_positions") ? 2 : 0), rows.origin);
    }

    void heads() {
        const bool one =
            is("one_kv_head") || (is("falcon") && !keys_.flag("new_decoder_architecture") && keys_.flag("multi_query"));
        const bool as_heads = is("all_kv_heads") || (is("falcon") && !keys_.flag("new_decoder_architecture") && !one);
        if (one || keys_.multi_query()) {
            keys_.size("kv_heads");
            object_.set("kv_heads", 1, family_origin("multi_query"));
        } else if (as_heads || !take("kv_heads", "kv_heads")) {
            keys_.size("kv_heads");
            take("heads", "kv_heads");
        }
        if (take("head_size", "head_size")) return;
        const double heads = value("heads"), hidden = value("hidden");
        if (heads > 0 && std::fmod(hidden, heads) != 0)  // as the classes round
            object_.set("head_size", std::floor(hidden / heads), family_origin("hidden / heads"));
    }

    void latent_attention() {
        Draft& latent = object_.object("latent_attention");
        for (const auto& [key, name] : {std::pair{"kv_lora_rank", "kv_rank"},
                                        {"q_lora_rank", "q_rank"},
                                        {"qk_nope_head_dim", "nope_size"},
                                        {"qk_rope_head_dim", "rope_size"},
                                        {"v_head_dim", "value_size"}}) {
            if (!take(key, latent, name) && std::string_view(name) != "q_rank") keys_.report_missing(key);
        }
        for (const std::string_view key : {"kv_heads", "head_size"}) keys_.size(key);
        if (keys_.flag("attention_bias"))
            keys_.refuse("attention_bias", "weft's latent attention has biases on all of its maps or on none");
    }

    void norms() {
        object_.set("norm", is("rms_norm") ? "rms_norm" : "layer_norm", family_origin("norm"));
        if (is("norm_without_weight")) object_.set("norm_weight", false, family_origin("norm"));
        if (is("norm_without_bias")) object_.set("norm_bias", false, family_origin("norm"));
        if (is("embedding_norm")) object_.set("embedding_norm", true, family_origin("embedding norm"));
        const bool falcon = is("falcon"), new_falcon = falcon && keys_.flag("new_decoder_architecture");
        const bool parallel = is("parallel") || new_falcon || (falcon && keys_.flag("parallel_attn"));
        if (parallel) object_.set("parallel_residual", true, family_origin("parallel residual"));
        // FalconDecoderLayer: two norms only in the new architecture, unless one is asked for.
        const bool two = new_falcon && value("num_ln_in_parallel_attn") != 1;
        const bool shared = falcon ? parallel && !two : is("shared_norm");
        const std::string_view placement = shared                ? "shared"
                                           : is("post_norm")     ? "post"
                                           : is("sandwich_norm") ? "sandwich"
                                                                 : "pre";
        if (placement != "pre") object_.set("norm_placement", placement, family_origin("norms"));
        if (keys_.is_false("do_layer_norm_before"))
            keys_.refuse("do_layer_norm_before", "weft has no norms of the residual itself");
        if (keys_.flag("_remove_final_layer_norm"))
            keys_.refuse("_remove_final_layer_norm", "weft has a norm after the last layer");
        if (value("word_embed_proj_dim") > 0 && value("word_embed_proj_dim") != value("hidden"))
            keys_.refuse("word_embed_proj_dim", "weft has no projection between embedding and layers");
    }

    void mlp() {
        if (is("gated")) object_.set("gated", true, family_origin("gated MLP"));
        if (is("halved_ffn")) {  // Qwen's two input maps share intermediate_size
            const HuggingFaceSize both = keys_.size("ffn").value_or(HuggingFaceSize{2, {}});
            return object_.set("ffn_hidden", both.value / 2, both.origin);
        }
        if (take("dense_ffn", "ffn_hidden") || take("ffn", "ffn_hidden")) return;
        const std::optional<HuggingFaceSize> ratio = keys_.size("expansion_ratio");
        object_.set("ffn_hidden", (ratio ? ratio->value : 4) * value("hidden"),
                    ratio ? ratio->origin : family_origin("4 hidden"));
    }

    void experts() {
        if (value("experts") < 1) return;
        const std::vector<bool> layers = keys_.expert_layers();
        if (!layers.empty() && std::ranges::find(layers, true) == layers.end()) return;  // none has them
        Draft& experts = object_.object("experts");
        take("experts", experts, "count");
        if (!take("top_k", experts, "top_k")) keys_.report_missing("top_k");
        if (!take("expert_ffn", experts, "ffn_hidden")) take("ffn", experts, "ffn_hidden");
        shared_experts(experts);
        if (layers.empty()) return;  // the pattern tells
        const std::optional<LayerPattern> pattern = expert_pattern(layers);
        if (!pattern) {
            object_.object("layer_kinds").object("experts");
            object_.object("layer_kinds").object("mlp").set("feed_forward", "mlp", keys_.origin_of_expert_layers());
            return set_kinds(layers, "experts", "mlp", keys_.origin_of_expert_layers());
        }
        if (pattern->first > 0) experts.set("first_dense", pattern->first, keys_.origin_of_expert_layers());
        if (pattern->every > 1) experts.set("every", pattern->every, keys_.origin_of_expert_layers());
    }

    void set_kinds(const std::vector<bool>& layers, const char* those, const char* others, const Origin& origin) {
        const auto names = list_of<std::string>(layers, [&](const bool is) { return is ? those : others; });
        set_pattern(names, origin, object_);
    }

    void shared_experts(Draft& experts) {
        keys_.size("shared");  // of one whose width is said it is no news
        if (is("one_shared")) {
            experts.set("shared", 1, family_origin("shared expert"));
        } else if (take("shared_ffn", experts, "shared_ffn_hidden")) {
            experts.set("shared", 1, family_origin("shared expert"));
        } else if (!take("shared", experts, "shared")) {
            return;
        }
        if (is("shared_gate")) experts.set("shared_gate", true, family_origin("gate of the shared expert"));
    }

    void window() {
        const HuggingFaceWindow found = keys_.window(terms_);
        if (std::ranges::find(found.layers, true) == found.layers.end()) return;
        const std::optional<LayerPattern> rule = window_pattern(found.layers);
        if (!rule && object_.has("layer_kinds"))
            return keys_.refuse("layer_types",
                                "both windows and experts follow no rule; weft knows one of them by layer");
        Draft& window = (rule ? object_ : object_.object("layer_kinds").object("windowed")).object("attention_window");
        window.set("tokens", found.tokens.value, found.tokens.origin);
        if (found.chunked) window.set("chunked", true, found.tokens.origin);
        if (!rule) {
            object_.object("layer_kinds").object("full");
            set_kinds(found.layers, "windowed", "full", found.origin);
        }
        // Llama 4, the one that has chunks.
        if (found.chunked && rule && rule->every > 0) window.set("full_rotary", false, found.origin);
        if (rule && rule->first > 0) window.set("first_full", rule->first, found.origin);
        if (rule && rule->every > 0) window.set("full_every", rule->every, found.origin);
        import_.note(found.tokens.origin, "{} of {} layers attend to {} {:.0f} tokens",
                     std::ranges::count(found.layers, true), found.layers.size(),
                     found.chunked ? "chunks of" : "the last", found.tokens.value);
    }

    Import& import_;
    Draft& object_;
    HuggingFaceKeys keys_;
    const FormatOptions& options_;
    std::set<std::string, std::less<>> terms_;
    std::string biases_;
};

Import read_huggingface_files(std::span<const SourceFile> files, const FormatOptions& options) {
    Document document = Document::parse(files.front().path, without_infinities(files.front().text));
    Import import;
    import.kind = FormatKind::model;
    if (const std::optional<HuggingFaceKeys> keys = HuggingFaceKeys::find(import, document.root())) {
        HuggingFaceModel(import, *keys, options).read();
        if (options.encoder) set_encoder(*keys, document.root().text("model_type", ""), import);
        keys->note_others();
    }
    document.check();
    return import;
}

}  // namespace

extern const Format huggingface{"huggingface", "Hugging Face config.json", is_huggingface_file, read_huggingface_files,
                                "a config.json is one file"};

}  // namespace weft::formats
