// A decoder-only transformer: its shape and its exact parameter count, whole and per rank of a layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/transformer/layer.hpp"
#include "models/transformer/trained.hpp"
#include "sim/base/quantity.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/document.hpp"

namespace weft {

// Layers that are as the model's but for what a model file says of them.
struct NamedLayer {
    std::string name;
    Layer layer;
    bool operator==(const NamedLayer&) const = default;
};

// What makes tokens of images, or of stretches of sound, which take the place of tokens of the text: a map of patches,
// layers (Dosovitskiy et al. 2020, 2010.11929), and a projector of one map or more to the model's hidden size. Its
// layers are the model's first ones, a kind of their own.
enum class ProjectorNorm : std::uint8_t { none, layer_norm, rms_norm };
struct Encoder {
    std::uint32_t layers = 0;        // 0: none
    std::uint32_t tokens = 1;        // patches of an image
    std::uint32_t patch = 1;         // elements of one
    std::uint32_t class_tokens = 0;  // learned ones beside them, which layers see (CLIP)
    std::uint32_t positions = 0;     // rows of a learned table; 0: none
    std::uint32_t outer_norms = 0;   // before all layers, after them
    bool patch_bias = true;
    std::uint32_t merge = 1;               // neighbours that the projector takes side by side (Qwen2-VL), as one token
    std::uint32_t pool = 1;                // neighbours that it takes the mean of (Gemma 3)
    std::vector<std::uint32_t> projector;  // inner widths between its maps, with a GELU each
    bool projector_bias = true;
    ProjectorNorm projector_norm = ProjectorNorm::none;  // of what it takes, before patches are put side by side
    std::uint32_t deep = 0;                              // further projectors, of the output of inner layers (Qwen3-VL)
    std::uint32_t images = 1;                            // of a sequence

    std::uint32_t seen() const { return tokens + class_tokens; }
    double given() const { return double(tokens) / (double(merge) * pool); }  // tokens of the model for an image
    bool operator==(const Encoder&) const = default;
};

// Windowed: in its attention. Of the layers of kinds[n] the same plus 4 n: is_windowed and has_experts tell these, too.
enum class LayerKind : std::uint8_t { dense, expert, windowed_dense, windowed_expert };
constexpr std::size_t kinds_of_a_layer = 4;
constexpr bool has_experts(LayerKind kind) { return (static_cast<unsigned>(kind) & 1U) != 0; }
constexpr bool is_windowed(LayerKind kind) { return (static_cast<unsigned>(kind) & 2U) != 0; }

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
    Encoder encoder;
    // None, or one whose output this model learns from (distillation, 1503.02531), forward beside it: model parts share
    // its layers, behind their own, as `order` then says. `layers` counts them, `parameters` does not.
    std::vector<Transformer> teacher;
    std::vector<LayerKind> order;

    // Of the language model: `layers` without those of an encoder and a teacher.
    std::uint32_t own_layers() const { return layers - encoder.layers - (order.empty() ? 0 : teacher.front().layers); }
    bool operator==(const Transformer&) const = default;
};

inline std::size_t layer_kinds(const Transformer& model) {
    return kinds_of_a_layer * std::max<std::size_t>(1, model.kinds.size());
}
// Layers are numbered from 0, an encoder's first; those of multi-token prediction come after the others and are as the
// last of them.
LayerKind layer_kind(const Transformer& model, std::uint32_t layer);
const Layer& layer_of(const Transformer& model, LayerKind kind);
// The model as one all of whose layers are of this kind, whose own kind is then one of the four above. What is cut and
// trained as layers of the model are, as those of this kind see it.
Transformer of_kind(const Transformer& model, LayerKind kind);
Trained of_kind(const Transformer& model, LayerKind kind, const Trained& trained);
struct LayerSplit;
LayerSplit of_kind(const Transformer& model, LayerKind kind, const LayerSplit& split);
struct Shard;
Shard of_kind(const Transformer& model, LayerKind kind, const Shard& shard);
// Adds the layers of a teacher, of which each model part has its share (teacher_layers), behind those that it has.
void place_teacher(Transformer& model, std::span<const std::uint32_t> parts);
std::uint32_t teacher_layers(const Transformer& model, std::size_t part, std::size_t parts);
// Whether layers of this kind have no backward pass: of a teacher, or of an encoder that is frozen, before which
// nothing is trained.
bool runs_forward_alone(const Transformer& model, LayerKind kind, const Trained& trained);
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
AttentionWindow read_window(Field field);

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
// "embedding", "positions", "embedding norm", then of an encoder "patch embedding" with all that stands before and
// after its layers, and "projector"; of a teacher "teacher embedding"
std::vector<Module> embedding_modules(const Transformer& model, const LayerSplit& split);
std::vector<Module> head_modules(const Transformer& model,
                                 const LayerSplit& split);  // "final norm", "output layer", "teacher head"

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
