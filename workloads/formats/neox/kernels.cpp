// Attention and kernels of a GPT-NeoX configuration: EleutherAI/gpt-neox megatron/model/transformer.py.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/formats/neox/run.hpp"

namespace weft {
namespace {

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

bool read_neox_kernels(ForeignKeys& in, std::string_view precision) { return KernelReader(in, precision).read(); }

}  // namespace weft
