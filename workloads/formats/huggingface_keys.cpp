#include "workloads/formats/huggingface_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

using Severity = FormatNote::Severity;

// Of layers that are not all alike attention and MLP, or whose heads differ from layer to layer: parts of keys.
constexpr std::array unknown_layers{std::string_view("mamba"),
                                    std::string_view("ssm_"),
                                    std::string_view("hybrid_"),
                                    std::string_view("rwkv"),
                                    std::string_view("lru_width"),
                                    std::string_view("linear_attn"),
                                    std::string_view("linear_num_"),
                                    std::string_view("linear_conv"),
                                    std::string_view("conv_L_cache"),
                                    std::string_view("block_types"),
                                    std::string_view("block_configs"),
                                    std::string_view("layers_block_type"),
                                    std::string_view("attn_layer_period"),
                                    std::string_view("expert_layer_period"),
                                    std::string_view("full_attention_interval"),
                                    std::string_view("num_kv_shared_layers"),
                                    std::string_view("attention_k_eq_v"),
                                    std::string_view("enable_moe_block"),
                                    std::string_view("global_head_dim"),
                                    std::string_view("num_global_key_value_heads"),
                                    std::string_view("hidden_size_per_layer_input"),
                                    std::string_view("laurel"),
                                    std::string_view("altup"),
                                    std::string_view("cross_attention_layers"),
                                    std::string_view("add_cross_attention"),
                                    std::string_view("is_encoder_decoder"),
                                    std::string_view("index_topk"),
                                    std::string_view("moba"),
                                    std::string_view("use_double_wide_mlp"),
                                    std::string_view("qk_ln"),
                                    std::string_view("prefix_lm"),
                                    std::string_view("tie_encoder_decoder"),
                                    std::string_view("cla_share_factor"),
                                    std::string_view("swin_norm"),
                                    std::string_view("parallel_attn_mlp_res")};

// Parts of keys that change neither time nor memory.
constexpr std::array harmless{std::string_view("_token_id"),
                              std::string_view("_token_index"),
                              std::string_view("dropout"),
                              std::string_view("pdrop"),
                              std::string_view("layerdrop"),
                              std::string_view("initializer_"),
                              std::string_view("init_"),
                              std::string_view("_eps"),
                              std::string_view("epsilon"),
                              std::string_view("rope"),
                              std::string_view("rotary"),
                              std::string_view("theta"),
                              std::string_view("hidden_act"),
                              std::string_view("activation"),
                              std::string_view("dtype"),
                              std::string_view("version"),
                              std::string_view("architectures"),
                              std::string_view("auto_map"),
                              std::string_view("_name_or_path"),
                              std::string_view("use_cache"),
                              std::string_view("output_"),
                              std::string_view("return_dict"),
                              std::string_view("id2label"),
                              std::string_view("label2id"),
                              std::string_view("summary_"),
                              std::string_view("task_specific"),
                              std::string_view("tokenizer"),
                              std::string_view("pretraining_tp"),
                              std::string_view("aux_loss"),
                              std::string_view("z_loss"),
                              std::string_view("router_jitter"),
                              std::string_view("softcap"),
                              std::string_view("multiplier"),
                              std::string_view("logit"),
                              std::string_view("query_pre_attn_scalar"),
                              std::string_view("norm_topk_prob"),
                              std::string_view("routed_scaling"),
                              std::string_view("scoring_func"),
                              std::string_view("topk_"),
                              std::string_view("n_group"),
                              std::string_view("ep_size"),
                              std::string_view("max_position"),
                              std::string_view("initial_context_length"),
                              std::string_view("n_positions"),
                              std::string_view("n_ctx"),
                              std::string_view("max_seq_len"),
                              std::string_view("seq_length"),
                              std::string_view("max_length"),
                              std::string_view("temperature"),
                              std::string_view("pruned_heads"),
                              std::string_view("torchscript"),
                              std::string_view("use_bfloat16"),
                              std::string_view("chunk_size_feed_forward"),
                              std::string_view("clip_qkv"),
                              std::string_view("qkv_clip"),
                              std::string_view("softmax_scale"),
                              std::string_view("scale_attn"),
                              std::string_view("reorder_and_upcast"),
                              std::string_view("gradient_checkpointing"),
                              std::string_view("attn_impl"),
                              std::string_view("attn_type"),
                              std::string_view("attn_uses_sequence_id"),
                              std::string_view("alibi_bias_max"),
                              std::string_view("norm_type"),
                              std::string_view("verbose"),
                              std::string_view("prefix"),
                              std::string_view("embedding_fraction"),
                              std::string_view("residual_connection_post"),
                              std::string_view("slow_but_exact"),
                              std::string_view("bos_"),
                              std::string_view("eos_"),
                              std::string_view("swiglu_limit"),
                              std::string_view("router_bias_update"),
                              std::string_view("decoder_start"),
                              std::string_view("partial_"),
                              std::string_view("mup_"),
                              std::string_view("_fn"),
                              std::string_view("_token"),
                              std::string_view("attn_implementation"),
                              std::string_view("max_window_layers"),
                              std::string_view("sliding_window"),
                              std::string_view("window_size"),
                              std::string_view("layer_types"),
                              std::string_view("num_ln_in_parallel_attn"),
                              std::string_view("seq_aux"),
                              std::string_view("moe_norm_min"),
                              std::string_view("for_llm_in"),
                              std::string_view("cache_implementation"),
                              std::string_view("attn_config"),
                              std::string_view("ffn_config"),
                              std::string_view("remove_invalid_values"),
                              std::string_view("problem_type"),
                              std::string_view("bad_words"),
                              std::string_view("model_max_length"),
                              std::string_view("n_special"),
                              std::string_view("predict_special"),
                              std::string_view("use_logit_softcapping"),
                              std::string_view("use_flash_attn"),
                              std::string_view("bf16"),
                              std::string_view("fp16"),
                              std::string_view("fp32"),
                              std::string_view("use_dynamic_ntk"),
                              std::string_view("onnx"),
                              std::string_view("moe_capacity"),
                              std::string_view("moe_use_aux"),
                              std::string_view("scale_depth"),
                              std::string_view("scale_emb"),
                              std::string_view("dim_model_base"),
                              std::string_view("logn_attn"),
                              std::string_view("pad_token"),
                              std::string_view("_loss"),
                              std::string_view("attn_pdrop"),
                              std::string_view("rescale_prenorm"),
                              std::string_view("moe_loss"),
                              std::string_view("moe_normalize"),
                              std::string_view("uniform_expert"),
                              std::string_view("temperature_tuning"),
                              std::string_view("attn_scale"),
                              std::string_view("floor_scale"),
                              std::string_view("resid_pdrop"),
                              std::string_view("weight_init")};

bool has_part(std::string_view key, std::span<const std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return key.find(part) != std::string_view::npos; });
}

bool is_there(const Field& field, std::string_view key) {
    const std::vector<std::string> keys = field.keys();
    return std::ranges::find(keys, key) != keys.end();
}

bool is_list(Field field, std::string_view key) { return field.member(key).as_json().starts_with('['); }

// null, false, 0, "", [] and {}.
bool says_nothing(Field field, std::string_view key) {
    if (!field.has(key)) return true;
    const std::string json = field.member(key).as_json();
    return json == "false" || json == "0" || json == "0.0" || json == "\"\"" || json == "[]" || json == "{}";
}

// A number, a flag, or numbers that are all the same, one for each layer.
double number_of(Field field, std::string_view key) {
    if (field.is_flag(key)) return field.flag(key) ? 1 : 0;
    if (!is_list(field, key)) return field.number(key);
    std::vector<double> values;
    for (Field& element : field.list(key)) values.push_back(element.as_number());
    if (std::ranges::adjacent_find(values, std::not_equal_to<>()) != values.end())
        field.error(key, "expected the same for every layer");
    return values.empty() ? 0 : values.front();
}

void refuse_unknown_layers(Import& import, Field field, bool known_type) {
    for (const std::string& key : field.keys()) {
        if (!has_part(key, unknown_layers)) continue;
        const bool nothing = says_nothing(field, key);
        field.has(key);
        if (nothing && known_type) continue;
        import.note(Severity::error, field.origin(key),
                    "weft has attention and an MLP or experts in every layer alike");
    }
}

const HuggingFaceFamily* known_family(Import& import, Field& language, const std::string& type) {
    const HuggingFaceFamily* const family = find_huggingface_family(type);
    if (family != nullptr) return family;
    const std::string message =
        type.empty() ? "expected the model's type, which says what its layers are"
                     : fmt::format("weft knows no model of type \"{}\"{}", type, suggestion(type, huggingface_types()));
    Origin origin = language.origin("model_type");
    origin.key = "model_type";
    import.note(Severity::error, origin, message);
    return nullptr;
}

}  // namespace

std::string without_infinities(std::string text) {
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted && text[i] == '\\') ++i;
        if (quoted) continue;
        if (text.compare(i, 8, "Infinity") == 0) text.replace(i, 8, "1.0e+300");
        if (text.compare(i, 3, "NaN") == 0) text.replace(i, 3, "0.0");
    }
    return text;
}

std::optional<HuggingFaceKeys> HuggingFaceKeys::find(Import& import, Field root) {
    Field language = root;
    bool nested = false;
    for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
        if (!root.is_object(key)) continue;
        language = root.object(key);
        nested = true;
    }
    const std::string whole = root.text("model_type", "");
    const std::string type = language.text("model_type", whole);
    const HuggingFaceFamily* const family = known_family(import, language, type);
    std::vector<Field> places{language};
    for (const std::string_view key : {"attn_config", "ffn_config"}) {
        if (language.is_object(key)) places.push_back(language.object(key));
    }
    if (nested) places.push_back(root);
    for (const Field& place : places) refuse_unknown_layers(import, place, family != nullptr);
    if (family == nullptr || import.has_errors()) return std::nullopt;
    return HuggingFaceKeys(import, *family, std::move(places), type);
}

std::optional<HuggingFaceKeys::Place> HuggingFaceKeys::place(std::string_view name) const {
    const std::array itself{name};
    const auto named = huggingface_aliases(name);
    std::optional<Place> found;
    for (const Field& field : places_) {
        for (const std::string_view key : named.empty() ? std::span<const std::string_view>(itself) : named) {
            if (!is_there(field, key)) continue;
            field.has(key);  // asked for
            if (!found) found = Place{field, std::string(key)};
        }
    }
    return found;
}

std::optional<HuggingFaceSize> HuggingFaceKeys::size(std::string_view name) const {
    if (const std::optional<Place> at = place(name)) {
        const double value = at->field.has(at->key) ? number_of(at->field, at->key) : 0;  // null: none
        return HuggingFaceSize{value, at->field.origin(at->key)};
    }
    const std::optional<double> value = family_->default_of(name);
    if (!value) return std::nullopt;
    const auto keys = huggingface_aliases(name);
    return HuggingFaceSize{*value, origin_of_class(keys.empty() ? name : keys.front())};
}

bool HuggingFaceKeys::flag(std::string_view key) const {
    const std::optional<HuggingFaceSize> value = size(key);
    return value && value->value != 0;
}

bool HuggingFaceKeys::is_false(std::string_view key) const { return place(key) && !flag(key); }

bool HuggingFaceKeys::multi_query() const {
    const std::optional<Place> at = place("attn_type");
    return at && at->field.is_text(at->key) && Field(at->field).text(at->key) == "multiquery_attention";
}

std::set<std::string, std::less<>> HuggingFaceKeys::terms() const {
    std::set<std::string, std::less<>> terms;
    std::string_view rest = family_->terms;
    while (!rest.empty()) {
        std::string_view term = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(term.size() + 1, rest.size()));
        const std::size_t colon = term.find(':');
        if (colon != std::string_view::npos) {
            const std::string_view condition = term.substr(0, colon);
            const bool unless = condition.front() == '!', absent = condition.front() == '~';
            const std::string_view key = condition.substr(unless || absent ? 1 : 0);
            if (absent ? place(key).has_value() : flag(key) == unless) continue;
            term.remove_prefix(colon + 1);
        }
        while (!term.empty()) {
            const std::size_t comma = std::min(term.find(','), term.size());
            terms.emplace(term.substr(0, comma));
            term.remove_prefix(std::min(comma + 1, term.size()));
        }
    }
    return terms;
}

std::uint32_t HuggingFaceKeys::layers() const {
    constexpr double most = 1e5;  // two orders of magnitude beyond any published model
    const std::optional<HuggingFaceSize> size = this->size("layers");
    if (!size || size->value < 1 || size->value > most) return 0;
    return static_cast<std::uint32_t>(size->value);
}

std::vector<bool> HuggingFaceKeys::expert_layers() const {
    std::vector<bool> layers(this->layers(), true);
    const auto keep = [&](auto has_experts) {
        for (std::size_t i = 0; i < layers.size(); ++i) layers[i] = layers[i] && has_experts(double(i));
    };
    const auto step_of = [&](std::string_view key) {
        const std::optional<HuggingFaceSize> step = size(key);
        return step && step->value >= 1 ? step->value : 1.0;
    };
    const auto members = [&](std::string_view key) {
        std::set<double> members;
        const std::optional<Place> at = place(key);
        if (!at || !at->field.has(at->key)) return members;
        for (Field& element : Field(at->field).list(at->key)) members.insert(element.as_number());
        return members;
    };
    for (const std::string_view key : {"interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval"}) {
        const double step = step_of(key);
        keep([&](double i) { return std::fmod(i + 1, step) == 0; });
    }
    if (const std::optional<Place> at = place("moe_layer_freq"); at && is_list(at->field, at->key)) {
        const std::vector<Field> frequency = Field(at->field).list(at->key);
        keep([&](double i) {
            return i < double(frequency.size()) && Field(frequency[std::size_t(i)]).as_number() != 0;
        });
    } else {
        const double step = step_of("moe_layer_freq");
        keep([&](double i) { return std::fmod(i, step) == 0; });
    }
    for (const std::string_view key : {"first_dense", "moe_layer_start_index"}) {
        const std::optional<HuggingFaceSize> first = size(key);
        if (first) keep([&](double i) { return i >= first->value; });
    }
    const std::optional<HuggingFaceSize> last = size("moe_layer_end_index");
    if (last && last->value >= 0) keep([&](double i) { return i <= last->value; });
    const std::set<double> dense = members("mlp_only_layers"), with = members("moe_layers");
    keep([&](double i) { return !dense.contains(i) && (with.empty() || with.contains(i)); });
    return layers;
}

Origin HuggingFaceKeys::origin_of_expert_layers() const {
    for (const std::string_view key : {"mlp_only_layers", "moe_layers", "first_dense", "moe_layer_freq",
                                       "interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_start_index"}) {
        if (const std::optional<Place> at = place(key)) return at->field.origin(at->key);
    }
    return origin_of_class("which layers have experts");
}

void HuggingFaceKeys::refuse_expert_layers() const {
    import_->note(Severity::error, origin_of_expert_layers(),
                  "weft knows leading layers without experts, and then one with experts of each few");
}

// What layer_types, attention_types (GPT-Neo) or no_rope_layers (Llama 4) list.
std::optional<std::vector<bool>> HuggingFaceKeys::listed_windows(bool& chunked) const {
    std::vector<bool> windows;
    const auto listed = [&](std::string_view key) -> std::optional<Place> {
        std::optional<Place> at = place(key);
        if (!at || says_nothing(at->field, at->key)) return std::nullopt;
        return at;
    };
    if (std::optional<Place> at = listed("layer_types")) {
        for (Field& element : at->field.list(at->key)) {
            const std::string type = element.as_text();
            chunked = chunked || type == "chunked_attention";
            windows.push_back(type != "full_attention");
            if (type == "full_attention" || type == "sliding_attention" || type == "chunked_attention") continue;
            refuse("layer_types", fmt::format("weft has attention in every layer, and no \"{}\"", type));
            return std::nullopt;
        }
        return windows;
    }
    if (std::optional<Place> at = listed("no_rope_layers")) {
        for (Field& element : at->field.list(at->key)) windows.push_back(element.as_number() != 0);
        return windows;
    }
    std::optional<Place> at = listed("attention_types");
    if (!at) return std::nullopt;
    for (Field& run : at->field.list(at->key)) {  // [["global", "local"], 12]
        std::vector<Field> parts = run.elements();
        if (parts.size() != 2) continue;
        const std::vector<Field> types = parts[0].elements();
        const std::uint32_t repeats = std::min(parts[1].as_whole(), layers());
        for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
            for (const Field& type : types) windows.push_back(Field(type).as_text() != "global");
        }
    }
    return windows;
}

HuggingFaceWindow HuggingFaceKeys::window(const std::set<std::string, std::less<>>& terms) const {
    const bool chunked = family_->default_of("chunk").has_value();
    HuggingFaceWindow found{.layers = std::vector<bool>(layers()), .tokens = {}, .chunked = chunked, .origin = {}};
    const auto rule = std::ranges::find_if(terms, [](const std::string& term) { return term.starts_with("window_"); });
    const std::optional<HuggingFaceSize> tokens = size(chunked ? "chunk" : "window");
    const std::optional<std::vector<bool>> listed = listed_windows(found.chunked);
    const bool off = is_false("use_sliding_window") || (terms.contains("window_after") && !flag("use_sliding_window"));
    if (rule == terms.end() || !tokens || tokens->value == 0 || off) return found;
    found.tokens = *tokens;
    found.origin = origin_of_class("which layers have a window");
    if (listed) {
        if (listed->size() != found.layers.size()) refuse("layer_types", "expected as many as there are layers");
        found.layers = *listed;
        return found;
    }
    const std::optional<HuggingFaceSize> first = size("max_window_layers"), pattern = size("sliding_window_pattern");
    const double every = *rule == "window_but_pattern"                                ? (pattern ? pattern->value : 0)
                         : *rule == "window_but_second" || *rule == "window_of_types" ? 2
                         : *rule == "window_but_fourth"                               ? 4
                                                                                      : 0;
    for (std::size_t i = 0; i < found.layers.size(); ++i) {
        const bool full = every > 0 && std::fmod(double(i) + (*rule == "window_of_types" ? 0 : 1), every) == 0;
        found.layers[i] = !full && (*rule != "window_after" || !first || double(i) >= first->value);
    }
    return found;
}

Origin HuggingFaceKeys::origin_of_class(std::string_view what) const {
    Origin origin = places_.front().origin("");
    origin.key = fmt::format("{} of {}", what, type_);
    return origin;
}

void HuggingFaceKeys::report_missing(std::string_view name) const {
    const auto keys = huggingface_aliases(name);
    Field(places_.front()).error("", fmt::format("expected a \"{}\"", keys.empty() ? name : keys.front()));
}

void HuggingFaceKeys::refuse(std::string_view key, std::string_view why) const {
    const std::optional<Place> at = place(key);
    import_->note(Severity::error, at ? at->field.origin(at->key) : origin_of_class(key), std::string(why));
}

void HuggingFaceKeys::note_others() const {
    for (const Field& place : places_) {
        for (const std::string& key : place.unasked()) {
            const Origin origin = place.origin(key);
            if (key == "quantization_config" || key == "compression_config") {
                place.has(key);
                import_->note(Severity::note, origin, "is how the weights are stored; a job's precision says the rest");
            } else if (key.find("nextn_predict") != std::string::npos || key.find("num_mtp") != std::string::npos) {
                if (says_nothing(place, key)) continue;
                import_->note(Severity::note, origin, "modules that predict further tokens are left out");
            } else if (key.ends_with("_config") && !has_part(key, harmless) && place.is_object(key)) {
                import_->note(Severity::note, origin, "is left out: the model is its language model");
            } else if (has_part(key, harmless) || !place.has(key)) {
                place.has(key);
                import_->without_effect.push_back(origin);
            }
        }
        note_rest(*import_, place);
    }
}

}  // namespace weft
