#include "workloads/formats/huggingface/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace weft {
namespace {

using Severity = FormatNote::Severity;

// Of layers that are not all alike attention and MLP, or whose heads differ from layer to layer: parts of keys.
constexpr std::string_view unknown_layers =
    "mamba ssm_ hybrid_ rwkv lru_width linear_attn linear_num_ linear_conv conv_L_cache block_types "
    "block_configs layers_block_type attn_layer_period expert_layer_period full_attention_interval "
    "num_kv_shared_layers attention_k_eq_v enable_moe_block global_head_dim num_global_key_value_heads "
    "hidden_size_per_layer_input laurel altup cross_attention_layers add_cross_attention is_encoder_decoder "
    "index_topk moba use_double_wide_mlp qk_ln prefix_lm tie_encoder_decoder cla_share_factor swin_norm "
    "parallel_attn_mlp_res position_encoding_2d inner_hidden_size";

// Parts of keys that change neither time nor memory.
constexpr std::string_view harmless =
    "_token_id _token_index initializer_ init_ _eps epsilon rope rotary theta "
    "hidden_act activation dtype version architectures auto_map _name_or_path use_cache output_ return_dict "
    "id2label label2id summary_ task_specific tokenizer pretraining_tp aux_loss z_loss router_jitter softcap "
    "multiplier logit query_pre_attn_scalar norm_topk_prob routed_scaling scoring_func topk_ n_group ep_size "
    "max_position initial_context_length n_positions n_ctx max_seq_len seq_length max_length temperature "
    "pruned_heads torchscript use_bfloat16 chunk_size_feed_forward clip_qkv qkv_clip softmax_scale "
    "scale_attn reorder_and_upcast gradient_checkpointing attn_impl attn_type attn_uses_sequence_id "
    "alibi_bias_max norm_type verbose prefix embedding_fraction residual_connection_post slow_but_exact bos_ "
    "eos_ swiglu_limit router_bias_update decoder_start partial_ mup_ _fn _token attn_implementation "
    "max_window_layers sliding_window window_size layer_types num_ln_in_parallel_attn seq_aux moe_norm_min "
    "for_llm_in cache_implementation attn_config ffn_config remove_invalid_values problem_type bad_words "
    "model_max_length n_special predict_special use_logit_softcapping use_flash_attn bf16 fp16 fp32 "
    "use_dynamic_ntk onnx moe_capacity moe_use_aux scale_depth scale_emb dim_model_base logn_attn pad_token "
    "_loss rescale_prenorm moe_loss moe_normalize uniform_expert temperature_tuning attn_scale "
    "floor_scale weight_init apply_query_key interleaved_qkv pre_seq_len quantization_bit post_layer_norm "
    "masked_softmax offset_alibi skip_bias_add runner max_batch_size pad_key_length max_sequence_length";

// Whether one of the words is part of the key.
bool has_part(std::string_view key, std::string_view words) {
    while (!words.empty()) {
        const std::string_view word = words.substr(0, words.find(' '));
        if (key.find(word) != std::string_view::npos) return true;
        words.remove_prefix(std::min(word.size() + 1, words.size()));
    }
    return false;
}

bool is_dropout(std::string_view key) { return has_part(key, "dropout pdrop layerdrop"); }

bool is_there(const Field& field, std::string_view key) {
    const std::vector<std::string> keys = field.keys();
    return std::ranges::find(keys, key) != keys.end();
}

bool holds_list(Field field, std::string_view key) { return field.member(key).as_json().starts_with('['); }

// null, false, 0, "", [] and {}.
bool says_nothing(Field field, std::string_view key) {
    if (!field.has(key)) return true;
    const std::string json = field.member(key).as_json();
    return json == "false" || json == "0" || json == "0.0" || json == "\"\"" || json == "[]" || json == "{}";
}

// A number, a flag, or numbers that are all the same, one for each layer.
double number_of(Field field, std::string_view key) {
    if (field.is_flag(key)) return field.flag(key) ? 1 : 0;
    if (!holds_list(field, key)) return field.number(key);
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

bool HuggingFaceKeys::is_list(const Place& place) { return holds_list(place.field, place.key); }

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
    const auto note = [&](const Origin& origin, std::string_view what) {
        import_->note(Severity::note, origin, std::string(what));
    };
    for (const Field& place : places_) {
        for (const std::string& key : place.unasked()) {
            const Origin origin = place.origin(key);
            const bool further = key.find("nextn_predict") != std::string::npos || key.starts_with("num_mtp");
            const bool optional = further || is_dropout(key);
            if (has_part(key, harmless) || !place.has(key) || (optional && says_nothing(place, key))) {
                import_->without_effect.push_back(origin);
            } else if (is_dropout(key)) {
                note(origin, "is what a job says, by its key dropout");
            } else if (further) {
                note(
                    origin,
                    "modules that predict further tokens are left out, as transformers does; --set mtp_layers=N for N");
            } else if (key == "quantization_config" || key == "compression_config") {
                note(origin, "is how the weights are stored; a job's precision says the rest");
            } else if (key.ends_with("_config") && place.is_object(key)) {
                note(origin, "is left out: the model is its language model");
            } else {
                note(origin, "not known to weft, and left out");
            }
        }
    }
}

}  // namespace weft
