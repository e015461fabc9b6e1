// The model that arguments of Megatron-LM describe. Defaults: megatron/training/arguments.py (validate_args,
// core_transformer_config_from_args) and megatron/core/transformer.

#include <algorithm>
#include <charconv>

#include "workloads/formats/keys.hpp"
#include "workloads/formats/megatron/keys.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

constexpr std::size_t longest_list = 4096;
constexpr int deepest_list = 16;

using List = std::vector<std::uint32_t>;

// Lists of Python joined by "+" and repeated by "*" (megatron/training/arguments.py, moe_freq_type).
struct ListParser {
    std::string_view text;
    std::size_t at = 0;
    int depth = 0;
    bool failed = false;

    List list() {
        List list = sum();
        return failed || !take('\0') ? List() : list;
    }

    // The next character, behind blanks; '\0' is the end.
    bool take(char c) {
        at = std::min(text.find_first_not_of(" \t", at), text.size());
        const bool is_there = !failed && (at == text.size() ? c == '\0' : text[at] == c);
        at += is_there ? 1 : 0;
        return is_there;
    }
    std::uint32_t number() {
        take(' ');  // passes blanks
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
        failed = failed || error != std::errc();
        at = static_cast<std::size_t>(end - text.data());
        return value;
    }
    void append(List& to, const List& more) {
        to.insert(to.end(), more.begin(), more.end());
        failed = failed || to.size() > longest_list;
    }

    List sum() {
        List all;
        failed = failed || ++depth > deepest_list;
        do append(all, product());
        while (take('+'));
        --depth;
        return all;
    }
    List product() {
        List once = factor();
        while (take('*')) {
            List all;
            for (std::uint32_t times = number(); times > 0 && !once.empty() && !failed; --times) append(all, once);
            once = std::move(all);
        }
        return once;
    }
    List factor() {
        List list;
        if (take('(')) {
            list = sum();
            failed = failed || !take(')');
        } else if (take('[')) {
            for (; !failed && !take(']'); take(',')) append(list, {number()});
        } else {
            failed = true;
        }
        return list;
    }
};

// Without a size the MLP is four times as wide as the model; of SwiGLU two thirds of that, in steps of 64.
void read_mlp(MegatronReading& in, Draft& model, std::uint32_t hidden) {
    const bool swiglu = in.on("swiglu"), gated = swiglu || in.on("quick_geglu") || in.on("gated_linear_unit");
    if (!in.take("ffn_hidden_size", model, "ffn_hidden")) {
        const std::uint64_t width = std::uint64_t{4} * hidden;
        const std::uint64_t narrow = static_cast<std::uint64_t>(static_cast<double>(width) * 2 / 3 / 64) * 64;
        model.set("ffn_hidden", swiglu ? narrow : width,
                  in.derived("hidden_size", swiglu ? "two thirds of 4 hidden-size" : "4 hidden-size"));
    }
    const std::string_view key = swiglu ? "swiglu" : in.on("quick_geglu") ? "quick_geglu" : "gated_linear_unit";
    model.set("gated", gated, in.has(key) ? in.origin(key) : in.derived("", "without swiglu"));
}

void read_latent(MegatronReading& in, Draft& model) {
    Draft& latent = model.object("latent_attention");
    constexpr std::string_view because = "multi_latent_attention";
    in.take_or(latent, "kv_rank", "kv_lora_rank", 32, because);
    in.take("q_lora_rank", latent, "q_rank");
    in.take_or(latent, "nope_size", "qk_head_dim", 128, because);
    in.take_or(latent, "rope_size", "qk_pos_emb_head_dim", 64, because);
    in.take_or(latent, "value_size", "v_head_dim", 128, because);
    if (!in.on("qk_layernorm"))
        in.warn("multi_latent_attention", "its latent vectors are normalised, as with --qk-layernorm");
}

void read_attention(MegatronReading& in, Draft& model) {
    model.set("heads", in.keys.count("num_attention_heads"), in.origin("num_attention_heads"));
    const bool latent = hybrid_pattern(in).layers.find_first_of("D+") != std::string::npos;
    if (in.on("multi_latent_attention") || latent) return read_latent(in, model);
    if (!in.take("num_key_value_heads", model, "kv_heads")) {
        const bool groups = in.on("group_query_attention");
        if (!groups && in.number("num_query_groups") > 1)
            in.note("num_query_groups", "has no effect without --group-query-attention");
        if (groups && !in.take("num_query_groups", model, "kv_heads"))
            model.set("kv_heads", 1, in.derived("group_query_attention", "default of num-query-groups"));
    }
    in.take("kv_channels", model, "head_size");
    if (!in.on("qk_layernorm")) return;
    model.set("query_key_norm", true, in.origin("qk_layernorm"));
    if (in.lower("normalization", "layernorm") != "rmsnorm")
        in.warn("qk_layernorm", "norms of queries and keys are simulated as RMS norms");
}

void read_positions(MegatronReading& in, Draft& model) {
    const std::string type = in.lower("position_embedding_type", "learned_absolute");
    const bool alibi = in.on("use_alibi_position_embeddings"), rotary = in.on("use_rotary_position_embeddings");
    const bool added = in.on("add_position_embedding", true);
    const Origin origin = in.origin(in.has("position_embedding_type")            ? "position_embedding_type"
                                    : alibi                                      ? "use_alibi_position_embeddings"
                                    : rotary                                     ? "use_rotary_position_embeddings"
                                    : in.has("add_position_embedding") && !added ? "add_position_embedding"
                                                                                 : "max_position_embeddings");
    if (alibi || type == "alibi") return model.set("positions", "alibi", origin);
    if (rotary || type == "rope" || type == "rotary" || type == "mrope" || type == "yarn")
        return model.set("positions", "rotary", origin);
    if (type == "none" || (type == "learned_absolute" && !added)) return model.set("positions", "none", origin);
    if (type != "learned_absolute" && type != "absolute" && type != "learned") {
        return in.error("position_embedding_type", "weft has rotary, learned and ALiBi positions, not \"{}\"", type);
    }
    model.set("positions", "learned", origin);
    if (!in.take("max_position_embeddings", model, "positions_length"))
        in.error("max_position_embeddings", "missing: how many positions the table has");
}

void read_norm(MegatronReading& in, Draft& model) {
    const std::string norm = in.lower("normalization", "layernorm");
    if (norm == "rmsnorm") {
        model.set("norm", "rms_norm", in.origin("normalization"));
    } else if (norm != "layernorm" && norm != "layernorm1p") {
        in.error("normalization", "expected LayerNorm or RMSNorm, got \"{}\"", norm);
    }
}

void read_biases(MegatronReading& in, Draft& model) {
    if (in.on("add_bias_linear", true)) return;
    if (in.on("add_qkv_bias")) return model.set_json("biases", R"(["qkv"])", in.origin("add_qkv_bias"));
    model.set("biases", false, in.origin("add_bias_linear"));
}

void read_experts(MegatronReading& in, Draft& model) {
    if (!in.has("num_experts")) return;
    if (in.keys.is_text("num_experts")) return in.error("num_experts", "weft has as many experts in each layer");
    if (in.keys.whole("num_experts") <= (in.deepspeed ? 1U : 0U)) return;
    Draft& experts = model.object("experts");
    experts.set("count", in.keys.count("num_experts"), in.origin("num_experts"));
    if (!in.take(in.first_of({"topk", "moe_router_topk"}), experts, "top_k"))
        experts.set("top_k", in.deepspeed ? 1 : 2, in.derived("num_experts", "default of moe-router-topk"));
    in.take("moe_ffn_hidden_size", experts, "ffn_hidden");
    in.take("moe_router_num_groups", experts, "groups");
    in.take("moe_router_group_topk", experts, "token_groups");
    // The width of all shared experts together.
    if (in.number("moe_shared_expert_intermediate_size") > 0) {
        experts.set("shared", 1, in.origin("moe_shared_expert_intermediate_size"));
        in.take("moe_shared_expert_intermediate_size", experts, "shared_ffn_hidden");
    }
    if (in.on("moe_router_enable_expert_bias"))
        experts.set("balancing_bias", true, in.origin("moe_router_enable_expert_bias"));
    if (in.number("moe_latent_size") > 0) {
        in.take("moe_latent_size", experts, "latent");
        in.needs(variants_since, "moe_latent_size");
    }
    if (in.number("activation_func_clamp_value") > 0)
        experts.set("clamped", true, in.origin("activation_func_clamp_value"));
    if (experts.has("shared") && in.on("moe_shared_expert_gate")) {
        experts.set("shared_gate", true, in.origin("moe_shared_expert_gate"));
        in.needs(variants_since, "moe_shared_expert_gate");
    }
}

// The tokenizer's size; padded, unless the padded size itself is given.
void read_vocabulary(MegatronReading& in, Draft& model) {
    const bool null = in.lower("tokenizer_type").starts_with("null");
    in.take("make_vocab_size_divisible_by", model, "vocabulary_multiple");
    if (in.options.vocabulary > 0) {
        model.set("vocabulary", in.options.vocabulary, in_file("--vocabulary"));
    } else if (in.has("padded_vocab_size")) {
        in.take("padded_vocab_size", model, "vocabulary");
        model.set("vocabulary_multiple", 1, in.origin("padded_vocab_size"));
    } else if (in.has("vocab_size")) {
        // The null tokenizer has a token more, for the end of a document.
        const std::uint64_t size = in.keys.count("vocab_size") + (null ? std::uint64_t{1} : 0) +
                                   static_cast<std::uint64_t>(std::clamp(in.number("vocab_extra_ids"), 0.0, 1e6));
        model.set("vocabulary", size, in.origin("vocab_size"));
        if (!null)
            in.note("vocab_size",
                    "is taken for the tokenizer's size, which Megatron-LM counts itself; --vocabulary N says another");
    } else if (!overridden_by_user(in.options, "vocabulary")) {
        in.import.error(in.has("tokenizer_type") ? in.origin("tokenizer_type") : in.derived("", "vocabulary"),
                        "the size of the tokenizer is not said; give --vocabulary N");
    }
}

}  // namespace

std::vector<std::uint32_t> python_list(std::string_view text) { return ListParser{text}.list(); }

void read_megatron_model(MegatronReading& in, Draft& model) {
    const std::string_view pattern = hybrid_pattern(in).key;
    model.set("layers", megatron_layers(in),
              in.origin(!pattern.empty() ? pattern : in.first_of({"num_layers", "encoder_num_layers"})));
    const std::uint32_t hidden = in.keys.count("hidden_size");
    model.set("hidden", hidden, in.origin("hidden_size"));
    if (in.number("mtp_num_layers") > 0) in.take("mtp_num_layers", model, "mtp_layers");
    read_attention(in, model);
    read_mlp(in, model, hidden);
    read_vocabulary(in, model);
    read_positions(in, model);
    read_norm(in, model);
    read_biases(in, model);
    if (!in.on("untie_embeddings_and_output_weights"))
        model.set("tied_embeddings", true,
                  in.derived("untie_embeddings_and_output_weights", "without untie-embeddings-and-output-weights"));
    read_experts(in, model);
    read_megatron_layers(in, model);
}

}  // namespace weft
