// Keys, defaults and what they mean: EleutherAI/gpt-neox megatron/neox_arguments/neox_args.py, megatron/model.
#include "workloads/formats/neox_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/formats/deepspeed_keys.hpp"
#include "workloads/formats/keys.hpp"

namespace weft {
namespace {

using Severity = FormatNote::Severity;

Origin by_default(std::string what) { return {.file = {}, .line = 0, .key = "GPT-NeoX's default" + std::move(what)}; }

std::uint64_t rounded_up(std::uint64_t size, std::uint64_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
}

class ModelReader {
  public:
    ModelReader(Import& import, Field& root, const FormatOptions& options, std::string_view precision)
        : import_(import),
          root_(root),
          options_(options),
          precision_(precision),
          model_(import.object.object("model")) {}

    void read() {
        for (const auto& [key, name] :
             {std::pair{"num_layers", "layers"}, {"hidden_size", "hidden"}, {"num_attention_heads", "heads"}}) {
            model_.set(name, root_.count(key), root_.origin(key));
        }
        take_count(root_, "num_kv_heads", model_, "kv_heads");
        read_mlp();
        read_vocabulary();
        read_positions();
        read_norm();
        read_flags();
        read_biases();
        read_attention();
        read_element_wise();
        read_experts();
        refuse_others();
    }

  private:
    bool gated() {
        const std::string name = root_.choice(
            "activation",
            {"gelu", "geglu", "relu", "softsign", "swish", "mish", "silu", "reglu", "swiglu", "bilinear", "glu"},
            "gelu");
        return name == "geglu" || name == "reglu" || name == "swiglu" || name == "bilinear" || name == "glu";
    }

    // model/transformer.py, ParallelMLP: of a gated MLP two matrices share 2/3 of what is said; sizes are rounded up to
    // a multiple.
    void read_mlp() {
        const bool gates = gated_ = gated();
        if (gates) model_.set("gated", true, root_.origin("activation"));
        const bool absolute = root_.has("intermediate_size"), relative = root_.has("expansion_factor");
        if (absolute && relative)
            root_.error("expansion_factor", "expected either this or intermediate_size, as GPT-NeoX does");
        const double hidden = root_.count("hidden_size");
        const double said = absolute ? root_.count("intermediate_size")
                                     : std::floor((relative ? root_.number("expansion_factor") : 4.0) * hidden);
        if (!(said >= 1 && said <= 4294967295.0)) {
            root_.error("expansion_factor", "expected a factor that makes a size from 1 to 2^32 - 1");
            return;
        }
        const std::uint64_t multiple = root_.count("mlp_multiple_of", 1);
        const auto whole = static_cast<std::uint64_t>(gates ? std::floor(said * 2 / 3) : said);
        const std::uint64_t output = rounded_up(whole, 2 * multiple);
        const std::uint64_t input = rounded_up(gates ? whole / 2 : whole, multiple);
        if (!absolute && !relative && !gates && multiple == 1) return;  // weft's default, too
        const Origin origin = absolute   ? root_.origin("intermediate_size")
                              : relative ? root_.origin("expansion_factor")
                                         : root_.origin(gates ? "activation" : "mlp_multiple_of");
        model_.set("ffn_hidden", input, origin);
        if (gates) {
            import_.note(Severity::note, origin,
                         fmt::format("ffn_hidden is {}: of a gated MLP GPT-NeoX gives two matrices 2/3 of {}{}", input,
                                     absolute ? "intermediate_size " : "", said));
        }
        if (output != (gates ? 2 * input : input)) {
            import_.note(
                Severity::warning, origin,
                fmt::format("GPT-NeoX's first map makes {} and its second takes {}, and it stops there; another "
                            "intermediate_size or mlp_multiple_of is needed",
                            output, gates ? fmt::format("2 x {}", input) : fmt::format("{}", input)));
        }
    }

    void read_vocabulary() {
        take_count(root_, "make_vocab_size_divisible_by", model_, "vocabulary_multiple");
        const std::string tokenizer = root_.text("tokenizer_type", "GPT2BPETokenizer");
        if (options_.vocabulary > 0) {
            model_.set("vocabulary", options_.vocabulary, {.file = {}, .line = 0, .key = "--vocabulary"});
        } else if (tokenizer == "CharLevelTokenizer") {  // tokenizer/tokenizer.py; the others count a file
            model_.set("vocabulary", 512, root_.origin("tokenizer_type"));
        } else if (options_.model.empty() && !overridden_by_user(options_, "model.vocabulary")) {
            import_.note(Severity::error, root_.origin("tokenizer_type"),
                         fmt::format("the size of the tokenizer's vocabulary ({}) is in no configuration; give "
                                     "--vocabulary N",
                                     tokenizer));
        }
    }

    void read_positions() {
        const Origin origin = root_.has("pos_emb") ? root_.origin("pos_emb") : by_default("");
        const std::string kind =
            root_.choice("pos_emb", {"learned", "rotary", "sinusoidal", "rpe", "alibi", "none"}, "learned");
        if (kind == "sinusoidal" || kind == "rpe") {
            return refuse_key(import_, root_, "pos_emb", fmt::format("weft has no {} positions", kind));
        }
        model_.set("positions", kind, origin);
        if (kind == "learned") {
            model_.set("positions_length", root_.count("max_position_embeddings"),
                       root_.origin("max_position_embeddings"));
        }
        rotary_ = kind == "rotary";
    }

    void read_norm() {
        if (!root_.has("norm")) return;
        const std::string kind = root_.choice(
            "norm", {"layernorm", "rmsnorm", "scalenorm", "te_rmsnorm", "te_layernorm", "non_parametric_layernorm"});
        if (kind == "scalenorm" || kind == "non_parametric_layernorm")
            return refuse_key(import_, root_, "norm", fmt::format("weft has no {}", kind));
        model_.set("norm", kind.ends_with("rmsnorm") ? "rms_norm" : "layer_norm", root_.origin("norm"));
    }

    void read_flags() {
        const bool untied = root_.flag("no_weight_tying", false);
        model_.set("tied_embeddings", !untied,
                   root_.has("no_weight_tying") ? root_.origin("no_weight_tying") : by_default(""));
        take_flag(root_, "gpt_j_residual", model_, "parallel_residual");
        if (is_on(root_, "gpt_j_tied") && is_on(root_, "gpt_j_residual"))
            warn_key(import_, root_, "gpt_j_tied", "the norm that attention and MLP share is made twice");
        root_.has("gpt_j_tied");
        if (is_on(root_, "use_qk_layernorm")) {
            // One norm over all heads and their elements, with a weight for each.
            take_flag(root_, "use_qk_layernorm", model_, "query_key_norm");
            warn_key(import_, root_, "use_qk_layernorm", "is taken as a norm of each head, with fewer weights");
        }
        root_.has("use_qk_layernorm");
    }

    void read_biases() {
        const bool attention = root_.flag("use_bias_in_attn_linear", true), mlp = root_.flag("use_bias_in_mlp", true);
        if (!attention || !mlp) {
            model_.set("biases", false, root_.origin(attention ? "use_bias_in_mlp" : "use_bias_in_attn_linear"));
        }
        if (attention == mlp) return;
        import_.note(Severity::warning, root_.origin(attention ? "use_bias_in_mlp" : "use_bias_in_attn_linear"),
                     fmt::format("GPT-NeoX's {} has biases then, which are left out",
                                 attention ? "attention" : "MLP (use_bias_in_mlp, true by default)"));
    }

    // [[["flash"], 32]] or [[["local", "global"], "all"]] or a word per layer.
    void gather_kinds(Field field, std::vector<std::string>& kinds) {
        for (Field& part : field.elements()) {
            const std::string json = part.as_json();
            if (json.starts_with('"')) {
                kinds.push_back(part.as_text());
            } else if (json.starts_with('[')) {
                gather_kinds(part, kinds);
            }
        }
    }

    void read_attention() {
        std::vector<std::string> kinds;
        if (root_.has("attention_config")) gather_kinds(root_.member("attention_config"), kinds);
        std::erase(kinds, "all");
        for (const std::string& kind : kinds) {
            if (kind == "global" || kind == "flash") continue;
            return refuse_key(import_, root_, "attention_config", fmt::format("weft has no {} layers", kind));
        }
        if (std::ranges::find(kinds, "global") != kinds.end() && std::ranges::find(kinds, "flash") != kinds.end())
            return refuse_key(import_, root_, "attention_config", "weft has one kind of attention for all layers");
        flash_ = !kinds.empty() && kinds.front() == "flash";
        import_.object.set(
            "attention", flash_ ? "flash" : "unfused",
            root_.has("attention_config") ? root_.origin("attention_config") : by_default(", attention_config global"));
        // model/fused_softmax.py; a fused kernel makes scale, mask and softmax one pass.
        const bool fused = root_.flag("scaled_upper_triang_masked_softmax_fusion", false) ||
                           root_.flag("scaled_masked_softmax_fusion", false);
        if (!flash_ && !fused) {
            import_.note(Severity::note, root_.origin("scaled_upper_triang_masked_softmax_fusion"),
                         "scale, mask and softmax are simulated as one pass, as with this fusion");
        }
        if (root_.has("sliding_window_width")) {
            const double width = root_.count("sliding_window_width"), sequence = root_.count("seq_length", 2048);
            warn_key(import_, root_, "sliding_window_width",
                     width < sequence ? "attention is simulated over the whole sequence, not in a window"
                                      : "is no shorter than the sequence");
        }
    }

    // weft's "unfused": rotary embeddings and biases of outputs as passes of their own. GPT-NeoX's rotary embedding is
    // one kernel but in bf16 without rope_fusion (model/transformer.py, apply_rotary_fn).
    void read_element_wise() {
        const bool rope_fusion = root_.flag("rope_fusion", false);
        const bool bias_fusion = root_.flag("bias_dropout_fusion", false);
        const bool unfused = rotary_ ? precision_ == "bf16" && !rope_fusion : !bias_fusion;
        if (rotary_ && root_.has("bias_dropout_fusion") && bias_fusion == unfused) {
            import_.note(Severity::note, root_.origin("bias_dropout_fusion"),
                         fmt::format("biases of outputs are simulated as rotary embeddings are: {}",
                                     unfused ? "passes of their own" : "fused"));
        }
        if (!unfused) return;
        const std::string_view key = rotary_ ? "rope_fusion" : "bias_dropout_fusion";
        import_.object.set("element_wise", "unfused",
                           root_.has(key) ? root_.origin(key) : by_default(fmt::format(", {} false", key)));
    }

    // model/moe.py, moe_mlp.py: experts that drop no token, dealt to the tensor ranks. Before (2024) DeepSpeed's own,
    // with ranks of their own and a capacity.
    void read_experts() {
        const std::string_view key = root_.has("num_experts") ? "num_experts" : "moe_num_experts";
        if (!root_.has(key) || root_.count(key) == 1) return;
        const std::string_view interval = root_.has("expert_interval") ? "expert_interval" : "moe_expert_interval";
        if (root_.count("model_parallel_size", 1) > 1) {
            return refuse_key(
                import_, root_, key,
                "GPT-NeoX deals experts to the tensor ranks and exchanges no tokens; weft has no such calls");
        }
        if (gated_)
            return refuse_key(import_, root_, "activation",
                              "GPT-NeoX's experts are not gated, weft's are as the model");
        if (is_on(root_, "moe_use_residual"))
            return refuse_key(import_, root_, "moe_use_residual", "weft has no MLP beside the experts of a layer");
        if (is_on(root_, "moe_glu"))
            return refuse_key(import_, root_, "moe_glu", "weft's experts are gated as the model is");
        Draft& experts = model_.object("experts");
        take_count(root_, key, experts, "count");
        take_count(root_, "moe_top_k", experts, "top_k");
        take_count(root_, interval, experts, "every");
        const bool given = root_.has("intermediate_size");
        const std::uint64_t size =
            given ? root_.count("intermediate_size") : rounded_up(4 * std::uint64_t{root_.count("hidden_size")}, 256);
        experts.set("ffn_hidden", size, given ? root_.origin("intermediate_size") : by_default(", 4 hidden_size"));
        import_.note(Severity::note, root_.origin(key),
                     "GPT-NeoX's experts have no biases; weft's have what the model has");
        take_count(root_, "moe_expert_parallel_size", import_.object.object("layout"), "expert");
        if (is_on(root_, "moe_token_dropping")) {
            import_.object.object("experts").set("capacity_factor", root_.number("moe_train_capacity_factor", 1.0),
                                                 root_.origin("moe_token_dropping"));
        }
    }

    // A kernel that weft takes for one pass over memory, and that this switch makes one.
    void note_fusion(std::string_view key) {
        if (!root_.has(key)) return;
        if (root_.flag(key)) {
            import_.without_effect.push_back(root_.origin(key));
        } else {
            import_.note(Severity::note, root_.origin(key), "is simulated as one pass, as with this fusion");
        }
    }

    void refuse_others() {
        refuse_key(import_, root_, "num_unique_layers", "weft has no layers that share their weights");
        if (root_.is_object("soft_prompt_tuning") && is_on_inside("soft_prompt_tuning", "enabled"))
            refuse_key(import_, root_, "soft_prompt_tuning", "weft trains all weights");
        if (root_.has("train_impl") && root_.text("train_impl") != "normal")
            refuse_key(import_, root_, "train_impl", "weft simulates pre-training (\"normal\")");
        if (is_on(root_, "te_fp8_mha"))
            refuse_key(import_, root_, "te_fp8_mha", "weft's fp8 is not that of one module");
        for (const std::string_view key : {"te_columnparallel", "te_rowparallel", "te_layernorm_mlp", "te_mha"}) {
            if (is_on(root_, key))
                warn_key(import_, root_, key, "Transformer Engine's kernels are taken as GPT-NeoX's");
        }
        if (!flash_ && is_on(root_, "attention_softmax_in_fp32"))
            warn_key(import_, root_, "attention_softmax_in_fp32", "the softmax is simulated in the layers' precision");
        if (is_on(root_, "fp16_lm_cross_entropy"))
            warn_key(import_, root_, "fp16_lm_cross_entropy", "the loss is simulated in fp32");
        if (root_.text("activation", "gelu") == "gelu") note_fusion("bias_gelu_fusion");
        if (root_.text("norm", "layernorm") == "rmsnorm") note_fusion("rmsnorm_fusion");
    }

    bool is_on_inside(std::string_view key, std::string_view flag) {
        Field inner = root_.object(key);
        return is_on(inner, flag);
    }

    Import& import_;
    Field& root_;
    const FormatOptions& options_;
    std::string_view precision_;
    Draft& model_;
    bool gated_ = false;
    bool rotary_ = false;
    bool flash_ = false;
};

}  // namespace

void read_neox_model(Import& import, Field& root, const FormatOptions& options, std::string_view precision) {
    bool has_model = false;
    for (const std::string_view key : {"num_layers", "hidden_size", "num_attention_heads"})
        has_model = root.has(key) || has_model;
    if (has_model) ModelReader(import, root, options, precision).read();
    unread_without_effect(import, root,
                          {"num_kv_heads",
                           "max_position_embeddings",
                           "layernorm_epsilon",
                           "rms_norm_epsilon",
                           "scalenorm_epsilon",
                           "rpe_num_buckets",
                           "rpe_max_distance",
                           "opt_pos_emb_offset",
                           "param_sharing_style",
                           "sparsity_config",
                           "use_flashattn_swiglu",
                           "fused_kernels_build_path",
                           "init_method",
                           "init_method_std",
                           "output_layer_init_method",
                           "apply_query_key_layer_scaling",
                           "attention_softmax_in_fp32",
                           "use_cpu_initialization",
                           "rotary_pct",
                           "rotary_emb_base",
                           "rotary_save_freqs_buffer",
                           "gmlp_attn_dim",
                           "bias_gelu_fusion",
                           "layernorm_fusion",
                           "rmsnorm_fusion",
                           "use_bias_in_norms",
                           "output_layer_parallelism",
                           "soft_prompt_tuning",
                           "fp16_lm_cross_entropy",
                           "te_columnparallel",
                           "te_rowparallel",
                           "te_layernorm_mlp",
                           "te_mha",
                           "te_fp8_mha",
                           "te_fp8_format",
                           "te_fp8_wgrad",
                           "te_fp8_amax_history_len",
                           "te_fp8_amax_compute_algo",
                           "te_fp8_margin",
                           "train_impl",
                           "mamba_selective_scan_fusion",
                           "mamba_causal_conv_fusion",
                           "mamba_inner_func_fusion",
                           "mamba_selective_fp32_params",
                           "mamba_use_bias_in_conv",
                           "mamba_use_bias_in_linears",
                           "dim_att",
                           "head_size",
                           "ffn_dim",
                           "moe_router_type",
                           "moe_lbl_in_fp32",
                           "moe_jitter_eps",
                           "moe_loss_coeff",
                           "moe_eval_capacity_factor",
                           "moe_min_capacity",
                           "create_moe_param_group",
                           "moe_type",
                           "enable_expert_tensor_parallelism",
                           "moe_num_experts",
                           "moe_top_k",
                           "moe_expert_interval",
                           "moe_token_dropping",
                           "moe_train_capacity_factor",
                           "moe_use_residual",
                           "moe_glu",
                           "use_mup",
                           "coord_check",
                           "save_base_shapes",
                           "base_shapes_file",
                           "mup_init_scale",
                           "mup_attn_temp",
                           "mup_output_temp",
                           "mup_embedding_mult",
                           "mup_rp_embedding_mult",
                           "mup_width_scale",
                           "padded_vocab_size"});
}

}  // namespace weft
