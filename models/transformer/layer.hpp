// What a layer of a transformer is made of: a mixer of tokens and a feed-forward, each behind a norm.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace weft {

enum class Positions : std::uint8_t { rotary, learned, alibi, none };
enum class Norm : std::uint8_t { layer_norm, rms_norm };  // layer_norm has weight and bias, rms_norm weight only

// Of what a layer's norms are: of the inputs of attention and MLP; of the one input of both, side by side (GPT-J); of
// their outputs, before these join the residual (OLMo-2); of inputs and outputs (Gemma-2).
enum class NormPlacement : std::uint8_t { pre, shared, post, sandwich };

// A norm of queries and keys before positions. Its parameters: none (Llama 4); those of a norm of one head, which all
// heads share (Qwen3); or a weight for each element of all heads' queries and keys (OLMo-2, Cohere).
enum class QueryKeyNorm : std::uint8_t { none, unweighted, per_head, whole };

// Which linear maps add a bias. `experts` are those of the shared experts, too; `head` is the output layer.
struct Biases {
    bool qkv, projection, mlp, experts, router = false, head = false;

    // NOLINTNEXTLINE(google-explicit-constructor): `biases = false` says what it means
    Biases(bool of_layers) : qkv(of_layers), projection(of_layers), mlp(of_layers), experts(of_layers) {}
    bool operator==(const Biases&) const = default;
};
struct BiasMap {
    std::string_view name;
    bool Biases::*member;
};
inline constexpr std::array bias_maps{BiasMap{"qkv", &Biases::qkv},       BiasMap{"projection", &Biases::projection},
                                      BiasMap{"mlp", &Biases::mlp},       BiasMap{"experts", &Biases::experts},
                                      BiasMap{"router", &Biases::router}, BiasMap{"head", &Biases::head}};

// In some layers a token attends to the last `tokens` alone, itself among them (Mistral), or, `chunked`, to those of
// its own chunk of so many (Llama 4).
struct AttentionWindow {
    std::uint32_t tokens = 0;  // 0: every layer attends to all
    bool chunked = false;
    std::uint32_t first_full = 0;  // leading layers without a window
    std::uint32_t full_every = 0;  // of the layers after those, the last of each run of so many has none; 0: all have
    bool full_rotary = true;       // layers without a window have positions where the others are rotary, too
    bool operator==(const AttentionWindow&) const = default;
};

// Mixture of experts (Shazeer et al. 2017, 1701.06538): in some layers a router sends each token to `top_k` MLPs of
// `count`, and `shared` more see every token (DeepSeekMoE, 2401.06066). Experts are gated and biased as the model is.
struct Experts {
    std::uint32_t count = 0;  // 0: a dense model
    std::uint32_t top_k = 1;
    std::uint32_t ffn_hidden = 0;         // of each
    std::uint32_t latent = 0;             // what their tokens are mapped to and back (Nemotron 3); 0: hidden
    std::uint32_t shared = 0;             // experts that every token passes
    std::uint32_t shared_ffn_hidden = 0;  // of each of those
    std::uint32_t first_dense = 0;        // leading layers without experts
    std::uint32_t every = 1;  // of the layers after those, the first of each run of so many (Megatron's moe-layer-freq)
    // Groups that the experts make, and those out of which a token's come (DeepSeek-V3, 2412.19437, section 2.1.2:
    // no more than 4 of 8 nodes); 1 of 1: any.
    std::uint32_t groups = 1;
    std::uint32_t token_groups = 1;
    // What evens out their tokens is a bias on each expert's score that is moved after every step by how many it got
    // (DeepSeek-V3, section 2.1.2); false: a term of the loss (Switch Transformer, 2101.03961).
    bool balancing_bias = false;
    bool clamped = false;      // their gated activation bounds both its inputs (GPT-OSS)
    bool shared_gate = false;  // a learned sum over the hidden state weighs the shared experts (Qwen2-MoE)
    bool operator==(const Experts&) const = default;
};

// Multi-head latent attention (DeepSeek-V2, 2405.04434, section 2.1). Keys and values of all heads are made from one
// vector of kv_rank per token, queries from one of q_rank, each normalised first. A head's query and key are nope_size
// elements so made and rope_size rotary ones; the rotary part of the key is made from the hidden state and is the same
// for every head. Values have a size of their own.
struct LatentAttention {
    std::uint32_t kv_rank = 0;  // 0: plain attention
    std::uint32_t q_rank = 0;   // 0: queries are made from the hidden state
    std::uint32_t nope_size = 0;
    std::uint32_t rope_size = 0;
    std::uint32_t value_size = 0;
    bool operator==(const LatentAttention&) const = default;
};

// What mixes the tokens of a layer: softmax attention, a recurrence over the sequence (recurrence.hpp), or nothing (a
// layer of a feed-forward alone).
enum class Mixer : std::uint8_t { attention, mamba2, gated_delta, kimi_delta, lightning, none };
constexpr bool is_recurrent(Mixer mixer) { return mixer > Mixer::attention && mixer < Mixer::none; }

// The shape of a recurrent mixer: a state of key_size x value_size for each of `heads`, written and read by keys and
// queries of key_heads (Mamba-2's groups), which share out the heads.
struct Recurrence {
    std::uint32_t heads = 0;
    std::uint32_t key_heads = 0;
    std::uint32_t key_size = 0;
    std::uint32_t value_size = 0;
    std::uint32_t convolution = 4;  // tokens that the causal convolution of each channel sees; 0: none
    std::uint32_t chunk = 64;       // tokens whose mixing is products of matrices (kernels.hpp)
    bool whole_gate = false;        // of kimi_delta: the output gate is one map, not two through a bottleneck (K3)
    bool operator==(const Recurrence&) const = default;
};

// Whether the sigmoid of a map of the hidden state weighs what attention gives: each element (Qwen3-Next), or each head
// (Step-3.5).
enum class AttentionGate : std::uint8_t { none, elements, heads };

// Sparse attention: each token attends to the `top_k` blocks of those before it that `heads` of head_size score
// highest; beside latent attention as in DeepSeek-V3.2, whose blocks are tokens, beside plain one as in MiniMax-M3.
struct Indexer {
    std::uint32_t heads = 0;  // 0: none
    std::uint32_t head_size = 128;
    std::uint32_t top_k = 2048;
    std::uint32_t block = 1;  // tokens

    AttentionWindow chosen() const { return {.tokens = top_k * block}; }
    bool operator==(const Indexer&) const = default;
};

// Whose a layer is: of the model that learns a language; of what makes tokens of images before it, whose tokens see one
// another whichever comes first; or of a teacher, which runs forward alone.
enum class LayerOf : std::uint8_t { language, encoder, teacher };

// What a layer is made of: a mixer and a feed-forward (an MLP of ffn_hidden, or experts), each behind a norm.
struct Layer {
    LayerOf of = LayerOf::language;
    std::uint32_t hidden = 1;
    Mixer mixer = Mixer::attention;
    Recurrence recurrence;  // of a recurrent mixer
    std::uint32_t heads = 1;
    std::uint32_t kv_heads = 1;
    std::uint32_t value_size = 0;    // of a head's value; 0: head_size
    std::uint32_t head_size = 1;     // hidden / heads unless given; of latent attention nope_size + rope_size
    std::uint32_t ffn_hidden = 1;    // 0: no MLP
    bool gated = false;              // SwiGLU-like MLP with three matrices
    bool parallel_residual = false;  // attention and MLP side by side (GPT-J), one reduction instead of two
    Biases biases = true;
    QueryKeyNorm query_key_norm = QueryKeyNorm::none;
    bool attention_sinks = false;  // a learned score per head beside those of the keys (GPT-OSS)
    AttentionGate attention_gate = AttentionGate::none;
    bool keys_are_values = false;  // one map makes both (Gemma 4)
    Indexer indexer;
    AttentionWindow window;
    Positions positions = Positions::rotary;
    Norm norm = Norm::layer_norm;
    bool norm_weight = true;  // false: norms without parameters (OLMo)
    bool norm_bias = true;    // of layer_norm
    NormPlacement norm_placement = NormPlacement::pre;
    Experts experts;
    LatentAttention latent;

    constexpr bool has_latent_attention() const { return latent.kv_rank > 0; }
    bool operator==(const Layer&) const = default;
};

}  // namespace weft
