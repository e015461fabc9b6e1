// A decoder-only transformer: its shape and its exact parameter count, whole and per tensor-parallel rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/io/document.hpp"

namespace weft {

enum class Positions : std::uint8_t { rotary, learned, alibi, none };
enum class Norm : std::uint8_t { layer_norm, rms_norm };  // layer_norm has weight and bias, rms_norm weight only

struct Transformer {
    std::string name;
    std::uint32_t layers = 1;
    std::uint32_t hidden = 1;
    std::uint32_t heads = 1;
    std::uint32_t kv_heads = 1;
    std::uint32_t head_size = 1;  // hidden / heads unless given
    std::uint32_t ffn_hidden = 1;
    std::uint32_t vocabulary = 1;        // as the tokenizer has it; padded per layout
    std::uint32_t positions_length = 0;  // rows of a learned position table
    bool gated = false;                  // SwiGLU-like MLP with three matrices
    bool tied_embeddings = false;
    bool parallel_residual = false;  // attention and MLP side by side (GPT-J), one reduction instead of two
    bool biases = true;              // on the linear layers
    Positions positions = Positions::rotary;
    Norm norm = Norm::layer_norm;
    std::uint32_t vocabulary_multiple = 128;  // padding: to a multiple of this times the tensor ranks; 1: none
};

// Reads a model object, records its mistakes in the field's document, and refuses unknown keys. Required: layers,
// hidden, heads, vocabulary. Defaults: kv_heads = heads, head_size = hidden / heads, ffn_hidden = 4 hidden, rotary
// positions, layer norm, biases, GELU, untied embeddings, vocabulary padded to multiples of 128. `name` yields to a
// "name" key; "title" and "source" are for people.
Transformer read_transformer(Field field, std::string name);
// A shipped model (models/catalog), or the path of a model file. Throws ConfigError with the nearest names.
Transformer load_transformer(std::string_view name);
std::vector<std::string> model_names();

// Why `tensor` ranks cannot share the model's layers, one sentence each; empty if they can. The counts below check
// that they can (LogicError).
std::vector<std::string> tensor_obstacles(const Transformer& model, std::uint32_t tensor);

// Parameter counts of one tensor rank out of `tensor` (1: the whole). Exact integers.
// Matrices and column-parallel biases are divided; norms and row-parallel biases are replicated.
std::uint64_t padded_vocabulary(const Transformer& model, std::uint32_t tensor);
std::uint64_t layer_parameters(const Transformer& model, std::uint32_t tensor);
std::uint64_t embedding_parameters(const Transformer& model, std::uint32_t tensor);  // with learned positions
std::uint64_t final_norm_parameters(const Transformer& model);
std::uint64_t head_parameters(const Transformer& model, std::uint32_t tensor);  // 0 if tied
std::uint64_t parameters(const Transformer& model, std::uint32_t tensor = 1);   // all of it

// Sizes of the tensors of one layer, the embedding, and the final norm with the head, in forward registration order
// (for gradient buckets). Every matrix is followed by its bias; a gated MLP registers its two inputs as one matrix.
std::vector<std::uint64_t> layer_tensors(const Transformer& model, std::uint32_t tensor);
std::vector<std::uint64_t> embedding_tensors(const Transformer& model, std::uint32_t tensor);
std::vector<std::uint64_t> head_tensors(const Transformer& model, std::uint32_t tensor);

// Outputs of the layer's linear maps, whole: queries, keys (as many as values), all three, and the MLP's first map.
std::uint64_t query_width(const Transformer& model);
std::uint64_t key_value_width(const Transformer& model);
std::uint64_t qkv_width(const Transformer& model);
std::uint64_t ffn_input_width(const Transformer& model);

}  // namespace weft
