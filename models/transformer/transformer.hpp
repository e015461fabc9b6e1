// A decoder-only transformer: its shape and its exact parameter count, whole and per rank of a layout.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer/trained.hpp"
#include "sim/base/quantity.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"

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

// What a layer is made of: a mixer and a feed-forward (an MLP of ffn_hidden, or experts), each behind a norm.
struct Layer {
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

// Layers that are as the model's but for what a model file says of them.
struct NamedLayer {
    std::string name;
    Layer layer;
    bool operator==(const NamedLayer&) const = default;
};

// All layers are as the base says; or, in a model with `kinds`, as the kinds that `pattern` tells in turn, again and
// again (indices of kinds).
struct Transformer : Layer {
    std::string name;
    std::uint32_t layers = 1;
    std::uint32_t mtp_layers = 0;        // modules after them that predict further tokens (prediction.hpp)
    std::uint32_t vocabulary = 1;        // as the tokenizer has it; padded per layout
    std::uint32_t positions_length = 0;  // rows of a learned position table
    bool tied_embeddings = false;
    bool embedding_norm = false;              // of the embedding's output (BLOOM)
    std::uint32_t vocabulary_multiple = 128;  // padding: to a multiple of this times the tensor ranks; 1: none
    std::vector<NamedLayer> kinds;
    std::vector<std::uint8_t> pattern;

    bool operator==(const Transformer&) const = default;
};

// Windowed: in its attention. Of the layers of kinds[n] the same plus 4 n: is_windowed and has_experts tell these, too.
enum class LayerKind : std::uint8_t { dense, expert, windowed_dense, windowed_expert };
constexpr std::size_t kinds_of_a_layer = 4;
constexpr bool has_experts(LayerKind kind) { return (static_cast<unsigned>(kind) & 1U) != 0; }
constexpr bool is_windowed(LayerKind kind) { return (static_cast<unsigned>(kind) & 2U) != 0; }
inline std::size_t layer_kinds(const Transformer& model) {
    return kinds_of_a_layer * std::max<std::size_t>(1, model.kinds.size());
}
// Layers are numbered from 0; those of multi-token prediction come after the others and are as the last of them.
LayerKind layer_kind(const Transformer& model, std::uint32_t layer);
const Layer& layer_of(const Transformer& model, LayerKind kind);
// The model as one all of whose layers are of this kind, whose own kind is then one of the four above.
Transformer of_kind(const Transformer& model, LayerKind kind);
constexpr LayerKind own_kind(LayerKind kind) {
    return static_cast<LayerKind>(static_cast<unsigned>(kind) % kinds_of_a_layer);
}
// How many layers there are of each kind, by LayerKind; with those of multi-token prediction or without.
std::vector<std::uint32_t> layers_by_kind(const Transformer& model, std::uint32_t layers);
template <class Visit>  // visit(kind, how many layers), of kinds that there are
void each_kind(const Transformer& model, std::uint32_t layers, Visit visit) {
    const std::vector<std::uint32_t> counts = layers_by_kind(model, layers);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        if (counts[kind] > 0) visit(static_cast<LayerKind>(kind), counts[kind]);
    }
}
std::vector<LayerKind> kinds_of(const Transformer& model);  // of its layers, each once
std::uint32_t expert_layers(const Transformer& model);      // how many have experts
// Whether a layer has an MLP: neither experts nor nothing.
inline bool has_mlp(const Layer& layer, LayerKind kind) { return !has_experts(kind) && layer.ffn_hidden > 0; }
inline bool has_feed_forward(const Layer& layer, LayerKind kind) { return has_experts(kind) || layer.ffn_hidden > 0; }
// Whether a layer's queries and keys are rotated.
bool rotates(const Transformer& model, LayerKind kind);
// Pairs of queries and keys that a windowed layer scores, over those of causal attention, s (s + 1) / 2: with w tokens
//   sliding  [w (w + 1) / 2 + (s - w) w],   chunked  [n w (w + 1) / 2 + r (r + 1) / 2],  n = s / w, r = s mod w.
double window_share(const AttentionWindow& window, double sequence);

// Reads a model object, records its mistakes in the field's document, and refuses unknown keys. `name` yields to a
// "name" key; "title" and "source" are for people, "also" lists what else the model is called.
Transformer read_transformer(Field field, std::string name);
// Its parts that speak of layers. What layers of a kind may have that others have not: "mixer", "recurrence",
// "attention_window", ... Keys that are left out leave the layer as it is.
void read_mixer(Field& field, Layer& layer);

// "layer_kinds" and "layer_pattern": a list of names of kinds, or a text of kinds of one letter, which layers take in
// turn, again and again.
void read_kinds(Field& field, Transformer& model);
// A shipped model (models/catalog), or the path of a model file. Throws ConfigError with the nearest names.
Transformer load_transformer(std::string_view name);
std::vector<std::string> model_names();

// Why `tensor` ranks cannot share the model's layers, one sentence each; empty if they can. The counts below check
// that they can (LogicError).
std::vector<std::string> tensor_obstacles(const Transformer& model, std::uint32_t tensor);
// On how many of `tensor` ranks a head of keys and values stands: on one, unless the ranks are a multiple of such
// heads.
double key_copies(const Layer& layer, double tensor);
bool copies_keys(const Transformer& model, std::uint32_t tensor);  // in some layer

// Ranks that share a layer: `tensor` its dense part (attention, dense MLP, shared experts), `expert` the list of
// experts, and `expert_tensor` each expert.
struct LayerSplit {
    std::uint32_t tensor = 1;
    std::uint32_t expert = 1;
    std::uint32_t expert_tensor = 1;
    Trained trained{};
};
// The same for the experts of a layer. Does not repeat tensor_obstacles.
std::vector<std::string> expert_obstacles(const Transformer& model, const LayerSplit& split);
bool can_share(const Transformer& model, const LayerSplit& split);  // neither

// A norm, a linear map or the experts of a layer, as one rank holds it.
struct Module {
    std::string_view name;                 // "input norm", "qkv", ...; static text
    bool expert = false;                   // its gradients are reduced over the ranks that hold the same experts
    std::vector<std::uint64_t> tensors{};  // elements of each, in registration order
    std::vector<bool> vector{};            // of each: one-dimensional (a bias or norm: no weight decay)
    std::vector<bool> frozen{};            // of each: not trained; empty: all are
    // Of each, the first dimensions (outputs) of what PyTorch's own modules register in its place: one, or three where
    // queries, keys and values are one tensor here, two of a gated MLP's inputs. Of experts none: their tensors are
    // slices, along that dimension, of tensors of all the rank's experts.
    std::vector<std::vector<std::uint64_t>> rows{};
    std::uint64_t slices = 0;  // experts, which each have an equal part of the tensors

    bool trains(std::size_t tensor) const { return frozen.empty() || !frozen[tensor]; }
};
std::uint64_t module_parameters(const Module& module);

// Of latent attention "qkv" is the maps down, each with its norm, and up: those down are whole on every rank.
// In registration order: "input norm", "qkv", "dense", "post-attention norm", then "h_to_4h", "4h_to_h", or in a layer
// with experts "router" (h x count, and the shared experts' gate; whole on every rank), "experts" (up and down of each
// of the rank's count / expert), and if there are any "shared experts up", "shared experts down" (one MLP as wide as
// all of them). Every matrix is followed by its bias, if it has one; a gated MLP registers its two inputs as one
// matrix. Norms of outputs: attention's in "post-attention norm", the MLP's at the end as "output norm". A norm shared
// by attention and MLP is "input norm". Attention's sinks and the norms of queries and keys are in "qkv".
std::vector<Module> layer_modules(const Transformer& model, LayerKind kind, const LayerSplit& split);
// "embedding", "positions", "embedding norm"
std::vector<Module> embedding_modules(const Transformer& model, const LayerSplit& split);
std::vector<Module> head_modules(const Transformer& model, const LayerSplit& split);  // "final norm", "output layer"

// Parameter counts of one tensor rank out of `tensor` (1: the whole). Exact integers.
// Matrices and column-parallel biases are divided; norms and row-parallel biases are replicated.
std::uint64_t padded_vocabulary(const Transformer& model, std::uint32_t tensor);
std::uint64_t layer_parameters(const Transformer& model, LayerKind kind, const LayerSplit& split);
std::uint64_t embedding_parameters(const Transformer& model, std::uint32_t tensor);  // with learned positions
std::uint64_t final_norm_parameters(const Transformer& model);
std::uint64_t parameters(const Transformer& model, const LayerSplit& split);
std::uint64_t parameters(const Transformer& model, std::uint32_t tensor = 1);  // every layer's; experts shared equally
// Of the whole model, those that one token meets: top_k experts of each layer instead of all, and the shared ones.
std::uint64_t active_parameters(const Transformer& model);

// Inputs of the attention core's value product per head: head_size, or value_size.
std::uint32_t value_size(const Layer& model);
// Widths of the queries, keys, values and all three as the attention core takes them, of what it returns, and of the
// MLP's first map, whole. In plain attention keys are as wide as values, and the context as the queries.
constexpr std::uint64_t query_width(const Layer& model) { return std::uint64_t{model.heads} * model.head_size; }
std::uint64_t gate_width(const Layer& layer);  // of attention's gate
constexpr std::uint64_t key_width(const Layer& model) { return std::uint64_t{model.kv_heads} * model.head_size; }
inline std::uint64_t value_width(const Layer& model) { return std::uint64_t{model.kv_heads} * value_size(model); }
std::uint64_t qkv_width(const Transformer& model);
std::uint64_t context_width(const Transformer& model);  // of a recurrence, its values
std::uint64_t qkv_outputs(const Transformer& model);  // of the map that makes them: a gate's, too, and shared ones once
// Elements of the matrices that make queries, keys and values, whole.
std::uint64_t qkv_matrices(const Transformer& model);
std::uint64_t ffn_input_width(const Layer& model);
// The same of one expert's first map; inputs of the second map of all shared experts together, and outputs of their
// first.
std::uint64_t expert_input_width(const Layer& model);
std::uint32_t expert_hidden(const Layer& layer);  // inputs and outputs of an expert
std::uint64_t shared_width(const Layer& model);
std::uint64_t shared_input_width(const Layer& model);

// What other tools call the keys of a model.
std::span<const Synonym> model_synonyms();

}  // namespace weft
