// Keys, defaults and layers: huggingface/transformers, src/transformers/models/*/configuration_*.py and modeling_*.py;
// for classes outside it (baichuan, chatglm, deepseek, exaone, internlm2, minicpm, orion, qwen, xverse, ...) the files
// beside the released weights.
#include "workloads/formats/huggingface/families.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace weft {
namespace {

constexpr std::array families{
    HuggingFaceFamily{"llama code_llama Yi aquila xverse",
                      "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=32000 tied=0",
                      "rms_norm gated attention_bias:qkv,projection mlp_bias:mlp"},
    HuggingFaceFamily{"minicpm", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=32000 tied=1",
                      "rms_norm gated attention_bias:qkv,projection"},
    HuggingFaceFamily{"arcee", "hidden=2560 layers=32 heads=32 ffn=18432 vocabulary=32000 tied=0",
                      "rms_norm attention_bias:qkv,projection mlp_bias:mlp"},
    HuggingFaceFamily{"helium",
                      "hidden=2560 layers=24 heads=20 kv_heads=20 head_size=128 ffn=7040 vocabulary=48000 tied=0",
                      "rms_norm gated attention_bias:qkv mlp_bias:mlp"},
    HuggingFaceFamily{"mistral ministral",
                      "hidden=4096 layers=32 heads=32 kv_heads=8 ffn=14336 vocabulary=32000 tied=0 window=4096",
                      "rms_norm gated window_all"},
    HuggingFaceFamily{"mixtral",
                      "hidden=4096 layers=32 heads=32 kv_heads=8 ffn=14336 vocabulary=32000 tied=0 experts=8 top_k=2",
                      "rms_norm gated window_all"},
    HuggingFaceFamily{"qwen", "hidden=4096 layers=32 heads=32 ffn=22016 vocabulary=151936 tied=0",
                      "rms_norm gated halved_ffn qkv !no_bias:projection,mlp"},
    HuggingFaceFamily{"qwen2",
                      "hidden=4096 layers=32 heads=32 kv_heads=32 ffn=22016 vocabulary=151936 tied=0 window=4096 "
                      "max_window_layers=28",
                      "rms_norm gated qkv window_after"},
    HuggingFaceFamily{"mimo",
                      "hidden=4096 layers=32 heads=32 kv_heads=32 ffn=22016 vocabulary=151936 tied=0 window=4096 "
                      "max_window_layers=28 attention_bias=1",
                      "rms_norm gated attention_bias:qkv window_after"},
    HuggingFaceFamily{"qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text",
                      "hidden=8192 layers=80 heads=64 kv_heads=8 ffn=29568 vocabulary=152064 tied=0 window=4096 "
                      "max_window_layers=80",
                      "rms_norm gated qkv window_after"},
    HuggingFaceFamily{"qwen2_moe",
                      "hidden=2048 layers=24 heads=16 kv_heads=16 ffn=5632 vocabulary=151936 tied=0 window=4096 "
                      "max_window_layers=28 experts=60 top_k=4 expert_ffn=1408 shared_ffn=5632 qkv_bias=1",
                      "rms_norm gated qkv_bias:qkv shared_gate window_after"},
    HuggingFaceFamily{"qwen3 qwen3_vl qwen3_vl_text",
                      "hidden=4096 layers=32 heads=32 kv_heads=32 head_size=128 ffn=22016 vocabulary=151936 tied=0 "
                      "window=4096 max_window_layers=28",
                      "rms_norm gated attention_bias:qkv,projection norm_per_head window_after"},
    HuggingFaceFamily{"qwen3_moe",
                      "hidden=2048 layers=24 heads=32 kv_heads=4 ffn=6144 vocabulary=151936 tied=0 window=4096 "
                      "max_window_layers=28 experts=128 top_k=8 expert_ffn=768",
                      "rms_norm gated attention_bias:qkv,projection norm_per_head window_after"},
    HuggingFaceFamily{"qwen3_vl_moe qwen3_vl_moe_text",
                      "hidden=2048 layers=24 heads=16 kv_heads=16 ffn=5632 vocabulary=151936 tied=0 experts=60 "
                      "top_k=4 expert_ffn=1408",
                      "rms_norm gated attention_bias:qkv,projection norm_per_head"},
    HuggingFaceFamily{"llama4 llama4_text",
                      "hidden=5120 layers=48 heads=40 kv_heads=8 head_size=128 ffn=8192 dense_ffn=16384 "
                      "vocabulary=202048 tied=0 experts=16 top_k=1 chunk=8192 use_qk_norm=1",
                      "rms_norm gated attention_bias:qkv,projection use_qk_norm:norm_unweighted one_shared "
                      "window_but_fourth"},
    HuggingFaceFamily{"deepseek",
                      "hidden=4096 layers=30 heads=32 kv_heads=32 ffn=11008 expert_ffn=1407 vocabulary=102400 tied=0 "
                      "top_k=8",
                      "rms_norm gated attention_bias:qkv,projection"},
    HuggingFaceFamily{"deepseek_v2",
                      "hidden=4096 layers=30 heads=32 ffn=11008 expert_ffn=1407 vocabulary=102400 tied=0 "
                      "kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64 v_head_dim=128 qk_nope_head_dim=128",
                      "rms_norm gated latent"},
    HuggingFaceFamily{"deepseek_v3 kimi_k2 glm4_moe_lite",
                      "hidden=7168 layers=61 heads=128 ffn=18432 expert_ffn=2048 vocabulary=129280 tied=0 shared=1 "
                      "experts=256 top_k=8 first_dense=3 kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64 "
                      "v_head_dim=128 qk_nope_head_dim=128",
                      "rms_norm gated latent router"},
    HuggingFaceFamily{"dots1",
                      "hidden=4608 layers=62 heads=32 kv_heads=32 ffn=10944 expert_ffn=1408 vocabulary=152064 tied=0 "
                      "first_dense=0 window=4096 max_window_layers=62",
                      "rms_norm gated attention_bias:qkv,projection norm_per_head router window_after"},
    HuggingFaceFamily{"minimax_m2",
                      "hidden=4096 layers=32 heads=32 kv_heads=8 ffn=14336 vocabulary=32000 tied=0 experts=8 top_k=2 "
                      "use_qk_norm=1 use_routing_bias=1",
                      "rms_norm gated use_qk_norm:norm_whole use_routing_bias:router"},
    HuggingFaceFamily{"gpt_oss",
                      "hidden=2880 layers=36 heads=64 kv_heads=8 head_size=64 ffn=2880 vocabulary=201088 tied=0 "
                      "experts=128 top_k=4 window=128 attention_bias=1",
                      "rms_norm gated attention_bias:qkv,projection experts router sinks window_but_second"},
    HuggingFaceFamily{"gpt2", "hidden=768 layers=12 heads=12 vocabulary=50257 positions=1024 tied=1",
                      "layer_norm qkv projection mlp learned"},
    HuggingFaceFamily{"gpt_bigcode",
                      "hidden=768 layers=12 heads=12 vocabulary=50257 positions=1024 tied=1 multi_query=1",
                      "layer_norm qkv projection mlp learned multi_query:one_kv_head"},
    HuggingFaceFamily{"gpt_neo", "hidden=2048 layers=24 heads=16 vocabulary=50257 positions=2048 tied=1 window=256",
                      "layer_norm projection mlp learned window_of_types"},
    HuggingFaceFamily{"gptj codegen", "hidden=4096 layers=28 heads=16 vocabulary=50400 tied=0",
                      "layer_norm mlp head parallel shared_norm"},
    HuggingFaceFamily{"gpt_neox",
                      "hidden=6144 layers=44 heads=64 ffn=24576 vocabulary=50432 tied=0 attention_bias=1 "
                      "use_parallel_residual=1",
                      "layer_norm attention_bias:qkv,projection mlp use_parallel_residual:parallel"},
    HuggingFaceFamily{"opt",
                      "hidden=768 layers=12 heads=12 ffn=3072 vocabulary=50272 positions=2048 tied=1 enable_bias=1 "
                      "layer_norm_elementwise_affine=1",
                      "layer_norm enable_bias:qkv,projection,mlp learned two_more_positions "
                      "!layer_norm_elementwise_affine:norm_without_weight"},
    HuggingFaceFamily{"bloom", "hidden=64 layers=2 heads=8 vocabulary=250880 tied=1",
                      "layer_norm qkv projection mlp alibi embedding_norm"},
    HuggingFaceFamily{"mpt",
                      "hidden=2048 layers=24 heads=16 vocabulary=50368 positions=2048 expansion_ratio=4 tied=1 "
                      "no_bias=1 alibi=1",
                      "layer_norm !no_bias:qkv,projection,mlp no_bias:norm_without_bias alibi:alibi !alibi:learned"},
    HuggingFaceFamily{"dbrx",
                      "hidden=2048 layers=24 heads=16 vocabulary=32000 tied=0 kv_heads=1 ffn=3584 experts=4 top_k=1",
                      "layer_norm norm_without_bias gated"},
    HuggingFaceFamily{"falcon RefinedWebModel",
                      "hidden=4544 layers=32 heads=71 vocabulary=65024 tied=1 multi_query=1 parallel_attn=1",
                      "layer_norm bias:qkv,projection,mlp alibi:alibi falcon"},
    HuggingFaceFamily{"RefinedWeb",
                      "hidden=8192 layers=60 heads=128 vocabulary=65024 tied=1 new_decoder_architecture=1",
                      "layer_norm bias:qkv,projection,mlp alibi:alibi falcon"},
    HuggingFaceFamily{"phi", "hidden=2048 layers=24 heads=32 ffn=8192 vocabulary=51200 tied=0",
                      "layer_norm qkv projection mlp head parallel shared_norm qk_layernorm:norm_per_head"},
    HuggingFaceFamily{"phi3", "hidden=3072 layers=32 heads=32 ffn=8192 vocabulary=32064 tied=0",
                      "rms_norm gated window_all"},
    HuggingFaceFamily{"phimoe",
                      "hidden=4096 layers=32 heads=32 kv_heads=8 ffn=6400 vocabulary=32064 tied=0 experts=16 top_k=2",
                      "layer_norm gated attention_bias:qkv,projection lm_head_bias:head window_all"},
    HuggingFaceFamily{"gemma",
                      "hidden=3072 layers=28 heads=16 kv_heads=16 head_size=256 ffn=24576 vocabulary=256000 tied=1",
                      "rms_norm gated attention_bias:qkv,projection"},
    HuggingFaceFamily{"gemma2",
                      "hidden=2304 layers=26 heads=8 kv_heads=4 head_size=256 ffn=9216 vocabulary=256000 tied=1 "
                      "window=4096",
                      "rms_norm sandwich_norm gated attention_bias:qkv,projection window_but_second"},
    HuggingFaceFamily{"gemma3 gemma3_text",
                      "hidden=2304 layers=26 heads=8 kv_heads=4 head_size=256 ffn=9216 vocabulary=262208 tied=1 "
                      "window=4096 sliding_window_pattern=6",
                      "rms_norm sandwich_norm gated attention_bias:qkv,projection norm_per_head window_but_pattern"},
    HuggingFaceFamily{"olmo", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=50304 tied=0",
                      "layer_norm norm_without_weight gated attention_bias:qkv,projection"},
    HuggingFaceFamily{"olmo2", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=50304 tied=0",
                      "rms_norm post_norm gated attention_bias:qkv,projection norm_whole"},
    HuggingFaceFamily{"olmo3", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=50304 tied=0 window=4096",
                      "rms_norm post_norm gated attention_bias:qkv,projection norm_whole window_but_fourth"},
    HuggingFaceFamily{"olmoe", "hidden=2048 layers=16 heads=16 ffn=2048 vocabulary=50304 tied=0 experts=64 top_k=8",
                      "rms_norm gated attention_bias:qkv,projection norm_whole"},
    HuggingFaceFamily{"stablelm stablelm_epoch",
                      "hidden=2560 layers=32 heads=32 kv_heads=32 ffn=6912 vocabulary=50304 tied=0",
                      "layer_norm gated use_qkv_bias:qkv use_parallel_residual:parallel,shared_norm "
                      "qk_layernorm:norm_whole"},
    HuggingFaceFamily{"orion", "hidden=5120 layers=40 heads=40 ffn=15360 vocabulary=84608 tied=0", "layer_norm gated"},
    HuggingFaceFamily{"cohere", "hidden=8192 layers=40 heads=64 ffn=22528 vocabulary=256000 tied=1",
                      "layer_norm norm_without_bias gated parallel shared_norm attention_bias:qkv,projection "
                      "use_qk_norm:norm_whole"},
    HuggingFaceFamily{"cohere2",
                      "hidden=8192 layers=40 heads=64 ffn=22528 vocabulary=256000 tied=1 window=4096 "
                      "sliding_window_pattern=4",
                      "layer_norm norm_without_bias gated parallel shared_norm attention_bias:qkv,projection "
                      "window_but_pattern"},
    HuggingFaceFamily{"granite", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=32000 tied=0",
                      "rms_norm gated attention_bias:qkv,projection mlp_bias:mlp"},
    HuggingFaceFamily{"granitemoe granitemoeshared",
                      "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=32000 tied=0 experts=8 top_k=2",
                      "rms_norm gated attention_bias:qkv,projection"},
    HuggingFaceFamily{"glm",
                      "hidden=4096 layers=40 heads=32 kv_heads=2 head_size=128 ffn=13696 vocabulary=151552 tied=0 "
                      "attention_bias=1",
                      "rms_norm gated attention_bias:qkv"},
    HuggingFaceFamily{"glm4",
                      "hidden=4096 layers=40 heads=32 kv_heads=2 head_size=128 ffn=13696 vocabulary=151552 tied=0",
                      "rms_norm sandwich_norm gated attention_bias:qkv"},
    HuggingFaceFamily{"glm4_moe",
                      "hidden=4096 layers=46 heads=96 kv_heads=8 ffn=10944 expert_ffn=1408 vocabulary=151552 tied=0 "
                      "experts=128 top_k=8 shared=1 first_dense=1",
                      "rms_norm gated attention_bias:qkv use_qk_norm:norm_per_head router"},
    HuggingFaceFamily{"chatglm",
                      "hidden=4096 layers=28 heads=32 head_size=128 ffn=13696 vocabulary=65024 tied=0 rmsnorm=1",
                      "rmsnorm:rms_norm !rmsnorm:layer_norm gated add_qkv_bias:qkv "
                      "add_bias_linear:qkv,projection,mlp !multi_query_attention:all_kv_heads"},
    HuggingFaceFamily{"internlm", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=103168 tied=0 bias=1",
                      "rms_norm gated bias:qkv,projection"},
    HuggingFaceFamily{"internlm2", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=103168 tied=0 bias=1",
                      "rms_norm gated bias:qkv,projection"},
    HuggingFaceFamily{"internlm3", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=128512 tied=0",
                      "rms_norm gated qkv_bias:qkv bias:projection,mlp"},
    HuggingFaceFamily{"baichuan", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=64000 tied=0",
                      "rms_norm gated ~max_position_embeddings:alibi"},
    HuggingFaceFamily{"starcoder2",
                      "hidden=3072 layers=30 heads=24 kv_heads=2 ffn=12288 vocabulary=49152 tied=1 use_bias=1",
                      "layer_norm use_bias:qkv,projection,mlp window_all"},
    HuggingFaceFamily{"nemotron", "hidden=6144 layers=32 heads=48 ffn=24576 vocabulary=256000 tied=0",
                      "layer_norm attention_bias:qkv,projection mlp_bias:mlp"},
    HuggingFaceFamily{"persimmon", "hidden=4096 layers=36 heads=64 ffn=16384 vocabulary=262144 tied=0 qk_layernorm=1",
                      "layer_norm qkv projection mlp qk_layernorm:norm_per_head"},
    HuggingFaceFamily{"exaone", "hidden=4096 layers=32 heads=32 ffn=14336 vocabulary=102400 tied=0", "rms_norm gated"},
    HuggingFaceFamily{"exaone4",
                      "hidden=4096 layers=32 heads=32 kv_heads=32 ffn=16384 vocabulary=102400 tied=0 window=4096 "
                      "sliding_window_pattern=4",
                      "rms_norm post_norm gated norm_per_head window_but_pattern"},
    HuggingFaceFamily{"seed_oss",
                      "hidden=4096 layers=64 heads=80 kv_heads=8 head_size=128 ffn=27648 vocabulary=155136 tied=0 "
                      "attention_bias=1",
                      "rms_norm gated attention_bias:qkv attention_out_bias:projection mlp_bias:mlp"},
    HuggingFaceFamily{"smollm3", "hidden=2048 layers=36 heads=16 kv_heads=4 ffn=11008 vocabulary=128256 tied=1",
                      "rms_norm gated attention_bias:qkv,projection mlp_bias:mlp window_after"},
    HuggingFaceFamily{"ernie4_5",
                      "hidden=1024 layers=18 heads=16 kv_heads=2 head_size=128 ffn=3072 vocabulary=103424 tied=1",
                      "rms_norm gated use_bias:qkv,projection,mlp"},
    HuggingFaceFamily{"ernie4_5_moe",
                      "hidden=2560 layers=28 heads=20 kv_heads=4 ffn=12288 expert_ffn=1536 vocabulary=103424 tied=1 "
                      "experts=64 top_k=6 shared=2 moe_layer_start_index=1",
                      "rms_norm gated use_bias:qkv,projection,mlp,experts router"},
    HuggingFaceFamily{"hunyuan_v1_dense", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=290943 tied=0",
                      "rms_norm gated attention_bias:qkv,projection norm_per_head"},
    HuggingFaceFamily{"hunyuan_v1_moe", "hidden=4096 layers=32 heads=32 ffn=11008 vocabulary=290943 tied=0 top_k=1",
                      "rms_norm gated attention_bias:qkv,projection norm_per_head one_shared"},
};

// By attribute_map most classes take another's key, too.
struct Aliases {
    std::string_view name;
    std::array<std::string_view, 6> keys;
};
constexpr std::array aliases{
    Aliases{"layers", {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}},
    Aliases{"hidden", {"hidden_size", "n_embd", "d_model", "n_embed"}},
    Aliases{"heads", {"num_attention_heads", "n_head", "n_heads", "num_heads"}},
    Aliases{"kv_heads", {"num_key_value_heads", "num_kv_heads", "n_head_kv", "kv_n_heads", "multi_query_group_num"}},
    Aliases{"head_size", {"head_dim", "kv_channels"}},
    Aliases{"ffn", {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"}},
    Aliases{"dense_ffn", {"intermediate_size_mlp"}},
    Aliases{"vocabulary", {"vocab_size", "padded_vocab_size"}},
    Aliases{"positions", {"max_position_embeddings", "n_positions", "max_seq_len"}},
    Aliases{"experts", {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}},
    Aliases{"top_k", {"num_experts_per_tok", "experts_per_token", "moe_top_k", "moe_k", "moe_topk"}},
    Aliases{"expert_ffn", {"moe_intermediate_size"}},
    Aliases{"shared", {"n_shared_experts", "moe_num_shared_experts", "num_shared_experts", "num_shared_expert"}},
    Aliases{"shared_ffn", {"shared_expert_intermediate_size", "shared_intermediate_size"}},
    Aliases{"first_dense", {"first_k_dense_replace"}},
    Aliases{"window", {"sliding_window", "window_size"}},
    Aliases{"chunk", {"attention_chunk_size"}},
    Aliases{"tied", {"tie_word_embeddings"}},
};

// Calls `each` with every word of a text.
template <class Each>
void each_word(std::string_view text, Each each) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) each(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

std::optional<double> HuggingFaceFamily::default_of(std::string_view name) const {
    std::optional<double> found;
    each_word(defaults, [&](std::string_view entry) {
        const std::size_t equals = entry.find('=');
        if (entry.substr(0, equals) != name) return;
        const std::string_view digits = entry.substr(equals + 1);
        unsigned value = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        found = value;
    });
    return found;
}

const HuggingFaceFamily* find_huggingface_family(std::string_view model_type) {
    for (const HuggingFaceFamily& family : families) {
        bool is = false;
        each_word(family.types, [&](std::string_view type) { is = is || type == model_type; });
        if (is) return &family;
    }
    return nullptr;
}

std::vector<std::string> huggingface_types() {
    std::vector<std::string> types;
    for (const HuggingFaceFamily& family : families) {
        each_word(family.types, [&](std::string_view type) { types.emplace_back(type); });
    }
    return types;
}

std::span<const std::string_view> huggingface_aliases(std::string_view name) {
    const auto found = std::ranges::find(aliases, name, &Aliases::name);
    if (found == aliases.end()) return {};
    const auto end = std::ranges::find(found->keys, std::string_view());
    return {found->keys.begin(), end};
}

}  // namespace weft
