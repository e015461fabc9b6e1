// Keys, defaults and what they mean: EleutherAI/gpt-neox megatron/neox_arguments/neox_args.py, megatron/model.
#include "workloads/formats/deepspeed/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace weft {
namespace {

std::uint64_t rounded_up(std::uint64_t size, std::uint64_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
}

class ModelReader {
  public:
    explicit ModelReader(ForeignKeys& in) : in_(in), root_(in.keys), model_(in.import.object.object("model")) {}

    void read() {
        for (const auto& [key, name] :
             {std::pair{"num_layers", "layers"}, {"hidden_size", "hidden"}, {"num_attention_heads", "heads"}}) {
            model_.set(name, root_.count(key), root_.origin(key));
        }
        in_.take_count("num_kv_heads", "model.kv_heads");
        read_mlp();
        read_vocabulary();
        read_positions();
        read_norm();
        read_flags();
        read_biases();
        read_experts();
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
    // a multiple. Before release 2.0 (October 2024) those of "mlp_type": "llama" were as wide as is said.
    void read_mlp() {
        const bool gates = gated(), former = root_.text("mlp_type", "regular") == "llama";
        gated_ = gates || former;
        if (gated_) in_.put("model.gated", true, former ? "mlp_type" : "activation");
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
        const std::uint64_t before = absolute ? std::uint64_t{root_.count("intermediate_size")}
                                              : rounded_up(static_cast<std::uint64_t>(std::floor(8 * hidden / 3)), 256);
        if (former) return model_.set("ffn_hidden", before, root_.origin(absolute ? "intermediate_size" : "mlp_type"));
        const auto whole = static_cast<std::uint64_t>(gates ? std::floor(said * 2 / 3) : said);
        const std::uint64_t output = rounded_up(whole, 2 * multiple);
        const std::uint64_t input = rounded_up(gates ? whole / 2 : whole, multiple);
        if (!absolute && !relative && !gates && multiple == 1) return;  // weft's default, too
        const Origin origin = absolute   ? root_.origin("intermediate_size")
                              : relative ? root_.origin("expansion_factor")
                                         : root_.origin(gates ? "activation" : "mlp_multiple_of");
        model_.set("ffn_hidden", input, origin);
        if (gates) {
            in_.import.note(
                origin, "ffn_hidden is {}: of a gated MLP GPT-NeoX gives two matrices 2/3 of {}{}{}", input,
                absolute ? "intermediate_size " : "", said,
                before == input
                    ? ""
                    : fmt::format("; releases before 2.0 made it {} (--set model.ffn_hidden={})", before, before));
        }
        if (output != (gates ? 2 * input : input)) {
            in_.import.warn(origin,
                            "GPT-NeoX's first map makes {} and its second takes {}, and it stops there; another "
                            "intermediate_size or mlp_multiple_of is needed",
                            output, gates ? fmt::format("2 x {}", input) : fmt::format("{}", input));
        }
    }

    void read_vocabulary() {
        in_.take_count("make_vocab_size_divisible_by", "model.vocabulary_multiple");
        const std::string tokenizer = root_.text("tokenizer_type", "GPT2BPETokenizer");
        if (in_.options.vocabulary > 0) {
            model_.set("vocabulary", in_.options.vocabulary, unwritten("--vocabulary"));
        } else if (tokenizer == "CharLevelTokenizer") {  // tokenizer/tokenizer.py; the others count a file
            in_.put("model.vocabulary", 512, "tokenizer_type");
        } else if (in_.options.model.empty() && !overridden_by_user(in_.options, "model.vocabulary")) {
            in_.import.error(root_.origin("tokenizer_type"),
                             "the size of the tokenizer's vocabulary ({}) is in no configuration; give "
                             "--vocabulary N",
                             tokenizer);
        }
    }

    void read_positions() {
        const Origin origin = root_.has("pos_emb") ? root_.origin("pos_emb") : unwritten("GPT-NeoX's default");
        const std::string kind =
            root_.choice("pos_emb", {"learned", "rotary", "sinusoidal", "rpe", "alibi", "none"}, "learned");
        if (kind == "sinusoidal" || kind == "rpe") {
            return in_.refuse("pos_emb", fmt::format("weft has no {} positions", kind));
        }
        model_.set("positions", kind, origin);
        if (kind == "learned") {
            model_.set("positions_length", root_.count("max_position_embeddings"),
                       root_.origin("max_position_embeddings"));
        }
    }

    void read_norm() {
        if (!root_.has("norm")) return;
        const std::string kind = root_.choice(
            "norm", {"layernorm", "rmsnorm", "scalenorm", "te_rmsnorm", "te_layernorm", "non_parametric_layernorm"});
        if (kind == "scalenorm" || kind == "non_parametric_layernorm")
            return in_.refuse("norm", fmt::format("weft has no {}", kind));
        in_.put("model.norm", kind.ends_with("rmsnorm") ? "rms_norm" : "layer_norm", "norm");
    }

    void read_flags() {
        const bool untied = root_.flag("no_weight_tying", false);
        model_.set("tied_embeddings", !untied,
                   root_.has("no_weight_tying") ? root_.origin("no_weight_tying") : unwritten("GPT-NeoX's default"));
        in_.take_flag("gpt_j_residual", "model.parallel_residual");
        if (in_.on("gpt_j_tied") && in_.on("gpt_j_residual")) in_.put("model.norm_placement", "shared", "gpt_j_tied");
        root_.has("gpt_j_tied");
        if (in_.on("use_qk_layernorm")) {
            // One norm over all heads and their elements, with a weight for each.
            in_.put("model.query_key_norm", "whole", "use_qk_layernorm");
        }
        root_.has("use_qk_layernorm");
    }

    void read_biases() {
        const bool attention = root_.flag("use_bias_in_attn_linear", true), mlp = root_.flag("use_bias_in_mlp", true);
        if (attention && mlp) return;
        const Origin origin = root_.origin(attention ? "use_bias_in_mlp" : "use_bias_in_attn_linear");
        if (attention == mlp) return model_.set("biases", false, origin);
        model_.set_json("biases", attention ? R"(["qkv", "projection"])" : R"(["mlp"])", origin);
    }

    // model/moe.py, moe_mlp.py: experts that drop no token, dealt to the tensor ranks. Before (2024) DeepSpeed's own,
    // with ranks of their own and a capacity.
    void read_experts() {
        const std::string_view key = root_.has("num_experts") ? "num_experts" : "moe_num_experts";
        if (!root_.has(key) || root_.count(key) == 1) return;
        const std::string_view interval = root_.has("expert_interval") ? "expert_interval" : "moe_expert_interval";
        if (root_.count("model_parallel_size", 1) > 1) {
            return in_.refuse(
                key, "GPT-NeoX deals experts to the tensor ranks and exchanges no tokens; weft has no such calls");
        }
        if (gated_) return in_.refuse("activation", "GPT-NeoX's experts are not gated, weft's are as the model");
        if (in_.on("moe_use_residual"))
            return in_.refuse("moe_use_residual", "weft has no MLP beside the experts of a layer");
        if (in_.on("moe_glu")) return in_.refuse("moe_glu", "weft's experts are gated as the model is");
        Draft& experts = model_.object("experts");
        in_.take_count(key, "model.experts.count");
        in_.take_count("moe_top_k", "model.experts.top_k");
        in_.take_count(interval, "model.experts.every");
        const bool given = root_.has("intermediate_size");
        const std::uint64_t size =
            given ? root_.count("intermediate_size") : rounded_up(4 * std::uint64_t{root_.count("hidden_size")}, 256);
        experts.set("ffn_hidden", size,
                    given ? root_.origin("intermediate_size") : unwritten("GPT-NeoX's default, 4 hidden_size"));
        in_.import.note(root_.origin(key), "GPT-NeoX's experts have no biases; weft's have what the model has");
        in_.import.object.object("layout");  // stands here
        in_.take_count("moe_expert_parallel_size", "layout.expert");
        if (in_.on("moe_token_dropping")) {
            in_.put("experts.capacity_factor", root_.number("moe_train_capacity_factor", 1.0), "moe_token_dropping");
        }
    }

    ForeignKeys& in_;
    Field& root_;
    Draft& model_;
    bool gated_ = false;
};

// Attention and kernels of a GPT-NeoX configuration: EleutherAI/gpt-neox megatron/model/transformer.py.

class KernelReader {
  public:
    KernelReader(ForeignKeys& in, std::string_view precision)
        : in_(in), root_(in.keys), precision_(precision), rotary_(root_.text("pos_emb", "learned") == "rotary") {}

    bool read() {
        read_attention();
        if (root_.has("num_layers")) read_element_wise();
        read_fusions();
        refuse_others();
        return !flash_;
    }

  private:
    Origin by_default(std::string_view key, std::string_view value) const {
        return in_.has(key) ? in_.origin(key) : unwritten(fmt::format("GPT-NeoX's default, {} {}", key, value));
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
            return in_.refuse("attention_config", fmt::format("weft has no {} layers", kind));
        }
        if (std::ranges::find(kinds, "global") != kinds.end() && std::ranges::find(kinds, "flash") != kinds.end())
            return in_.refuse("attention_config", "weft has one kind of attention for all layers");
        flash_ = !kinds.empty() && kinds.front() == "flash";
        in_.import.put("attention", flash_ ? "flash" : "unfused", by_default("attention_config", "global"));
        // model/fused_softmax.py; a fused kernel makes scale, mask and softmax one pass.
        const bool fused = root_.flag("scaled_upper_triang_masked_softmax_fusion", false) ||
                           root_.flag("scaled_masked_softmax_fusion", false);
        if (!flash_ && !fused) {
            in_.import.note(root_.origin("scaled_upper_triang_masked_softmax_fusion"),
                            "scale, mask and softmax are simulated as one pass, as with this fusion");
        }
        read_window();
    }

    // FlashAttention gets window_size=(width, -1): a token attends to so many before it, and to itself. Without flash
    // attention the width is not read.
    void read_window() {
        if (!root_.has("sliding_window_width")) return;
        const std::uint32_t width = root_.count("sliding_window_width"), sequence = root_.count("seq_length", 2048);
        if (!flash_ || width >= sequence) {
            return in_.warn("sliding_window_width",
                            flash_ ? "is no shorter than the sequence" : "is read by flash attention alone");
        }
        in_.put("model.attention_window.tokens", width + 1, "sliding_window_width");
        in_.import.note(root_.origin("sliding_window_width"), "a token attends to the {} before it, and to itself",
                        width);
    }

    // weft's "unfused": rotary embeddings and biases of outputs as passes of their own. GPT-NeoX's rotary embedding is
    // one kernel but in bf16 without rope_fusion (model/transformer.py, apply_rotary_fn).
    void read_element_wise() {
        const bool rope_fusion = root_.flag("rope_fusion", false);
        const bool bias_fusion = root_.flag("bias_dropout_fusion", false);
        const bool unfused = rotary_ ? precision_ == "bf16" && !rope_fusion : !bias_fusion;
        if (rotary_ && root_.has("bias_dropout_fusion") && bias_fusion == unfused) {
            in_.import.note(root_.origin("bias_dropout_fusion"),
                            "biases of outputs are simulated as rotary embeddings are: {}",
                            unfused ? "passes of their own" : "fused");
        }
        if (!unfused) return;
        const std::string_view key = rotary_ ? "rope_fusion" : "bias_dropout_fusion";
        in_.import.put("element_wise", "unfused", by_default(key, "false"));
    }

    // A kernel that weft takes for one pass over memory, and that this switch makes one.
    void note_fusion(std::string_view key) {
        if (!root_.has(key)) return;
        if (root_.flag(key)) {
            in_.import.without_effect.push_back(root_.origin(key));
        } else {
            in_.import.note(root_.origin(key), "is simulated as one pass, as with this fusion");
        }
    }

    void read_fusions() {
        if (root_.text("activation", "gelu") == "gelu") note_fusion("bias_gelu_fusion");
        if (root_.text("norm", "layernorm") == "rmsnorm") note_fusion("rmsnorm_fusion");
        if (!flash_ && in_.on("attention_softmax_in_fp32"))
            in_.warn("attention_softmax_in_fp32", "the softmax is simulated in the layers' precision");
    }

    void refuse_others() {
        if (root_.has("train_impl") && root_.text("train_impl") != "normal")
            in_.refuse("train_impl", "weft simulates pre-training (\"normal\")");
        if (!root_.is_object("soft_prompt_tuning")) return;
        if (in_.object("soft_prompt_tuning").on("enabled")) in_.refuse("soft_prompt_tuning", "weft trains all weights");
    }

    ForeignKeys& in_;
    Field& root_;
    std::string_view precision_;
    bool rotary_;
    bool flash_ = false;
};

}  // namespace

void read_neox_model(ForeignKeys& in) {
    bool has_model = false;
    for (const std::string_view key : {"num_layers", "hidden_size", "num_attention_heads"})
        has_model = in.has(key) || has_model;
    if (has_model) ModelReader(in).read();
}

bool read_neox_kernels(ForeignKeys& in, std::string_view precision) { return KernelReader(in, precision).read(); }

}  // namespace weft
