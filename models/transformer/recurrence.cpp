#include "models/transformer/recurrence.hpp"

#include <fmt/format.h>

#include "sim/base/check.hpp"

namespace weft {
namespace {

// Products of one head and chunk, each 2 c x ... FLOPs per token: of chunks' keys with one another (c key_size), of
// their scores with values (c value_size), of keys or values with a state (key_size value_size). In Mamba-2 heads of
// one group share the first.
struct Products {
    double scores, outputs, states;
};
struct Algorithm {
    Products forward, backward;
    bool shared_scores, inverts, blocks;  // scores by key head; inverse of a triangle per chunk; skips masked blocks
};

// Counted in the kernels: mamba_ssm e9594ce (ops/triton/ssd_combined.py: states and scores are made again in backward),
// flash-linear-attention bc3b101d (ops/gated_delta_rule/chunk.py, wy_fast.py, ops/common/chunk_delta_h.py, chunk_o.py:
// w, u and states again; ops/kda, which has the same products over gated keys; ops/lightning_attn by simple_gla).
// Nothing was fitted to times: of the delta rule and lightning attention on a GB200 they are met within 7 % from 32
// heads on and 16 % with 16 (recurrence_test.cpp); none of mamba_ssm's and KDA's are published with their shapes.
constexpr Algorithm mamba2{{1, 1, 2}, {3, 2, 5}, true, false, true};
constexpr Algorithm delta_rule{{3, 2, 3}, {9, 5, 8}, false, true, false};
constexpr Algorithm lightning{{1, 1, 2}, {3, 2, 5}, false, false, false};

const Algorithm& algorithm_of(Mixer mixer) {
    switch (mixer) {
        case Mixer::mamba2:
            return mamba2;
        case Mixer::gated_delta:
        case Mixer::kimi_delta:
            return delta_rule;
        case Mixer::lightning:
            return lightning;
        case Mixer::attention:
        case Mixer::none:
            break;
    }
    throw LogicError("a mixer without recurrence");
}

std::uint64_t convolved_channels(const Layer& layer) {
    if (layer.recurrence.convolution == 0) return 0;
    return 2 * recurrent_keys(layer.recurrence) + recurrent_values(layer.recurrence);
}

// Sizes on one tensor rank.
struct Sizes {
    Sizes(const Layer& layer, const Shard& shard)
        : shape(layer.recurrence),
          tokens(static_cast<double>(shard.micro_batch) * shard.sequence / shard.context),
          heads(static_cast<double>(shape.heads) / shard.tensor),
          key_heads(static_cast<double>(shape.key_heads) / shard.tensor),
          keys(static_cast<double>(recurrent_keys(shape)) / shard.tensor),
          values(static_cast<double>(recurrent_values(shape)) / shard.tensor),
          convolved(static_cast<double>(convolved_channels(layer)) / shard.tensor),
          chunks(tokens / shape.chunk),
          element_bytes(shard.element_bytes) {}

    const Recurrence& shape;
    double tokens, heads, key_heads, keys, values, convolved, chunks, element_bytes;
};

Kernel products(std::string_view name, double m, double n, double k, double count, double times, const Sizes& size) {
    Kernel kernel = gemm_kernel(name, m, n, k, size.element_bytes, count * times);
    kernel.launches = times;
    kernel.pass = PassClass::strided;  // a head's elements of a token lie between those of others
    return kernel;
}

struct Names {
    std::string_view scores, outputs, states;
};

void add_products(std::vector<Kernel>& kernels, const Algorithm& algorithm, const Products& of, const Names& names,
                  const Sizes& size) {
    const double c = size.shape.chunk, k = size.shape.key_size, v = size.shape.value_size;
    const double scored = size.chunks * (algorithm.shared_scores ? size.key_heads : size.heads);
    const double all = size.chunks * size.heads;
    kernels.push_back(products(names.scores, c, c, k, scored, of.scores, size));
    kernels.push_back(products(names.states, k, v, c, all, of.states, size));
    kernels.push_back(products(names.outputs, c, v, c, all, of.outputs, size));
    constexpr double block = 64;
    if (algorithm.blocks && c > block) kernels.back().executed = 0.5 * (1.0 + block / c);
}

// Chunks' states in fp32, and the inverses of the delta rule's triangles, in fp32 and working precision.
double chunk_bytes(const Algorithm& algorithm, const Sizes& size) {
    constexpr double fp32 = 4.0;
    const double states = size.chunks * size.heads * size.shape.key_size * size.shape.value_size * fp32;
    const double triangles = size.tokens * size.heads * size.shape.chunk * (fp32 + size.element_bytes);
    return 2.0 * states + (algorithm.inverts ? triangles : 0.0);
}

double all_outputs(const std::vector<RecurrentMap>& maps, double tensor) {
    return sum_of<double>(maps, [&](const RecurrentMap& map) { return map.outputs_on(tensor); });
}

}  // namespace

std::vector<RecurrentMap> recurrent_maps(const Layer& layer) {
    const Recurrence& shape = layer.recurrence;
    const std::uint64_t h = layer.hidden, keys = recurrent_keys(shape), values = recurrent_values(shape);
    switch (layer.mixer) {
        case Mixer::mamba2:  // z, x, B, C, dt
            return {{map_names<"mixer input">, h, 2 * values + 2 * keys + shape.heads}};
        case Mixer::gated_delta:  // queries, keys, values, z; beta and decay
            return {{map_names<"mixer input">, h, 2 * keys + 2 * values},
                    {map_names<"mixer gates">, h, std::uint64_t{2} * shape.heads}};
        case Mixer::kimi_delta: {  // decays and output gates through a bottleneck as wide as a value
            std::vector<RecurrentMap> maps{{map_names<"mixer input">, h, 2 * keys + values},
                                           {map_names<"decay down">, h, shape.value_size, true},
                                           {map_names<"decay up">, shape.value_size, keys},
                                           {map_names<"mixer gates">, h, shape.heads}};
            if (shape.whole_gate) {
                maps.push_back({map_names<"output gate">, h, values});
            } else {
                maps.push_back({map_names<"output gate down">, h, shape.value_size, true});
                maps.push_back({map_names<"output gate up">, shape.value_size, values});
            }
            return maps;
        }
        case Mixer::lightning:
            return {{map_names<"mixer input">, h, 2 * keys + values}, {map_names<"output gate">, h, values}};
        case Mixer::attention:
        case Mixer::none:
            break;
    }
    throw LogicError("a mixer without recurrence");
}

std::uint64_t recurrent_inputs(const Layer& layer) {
    return sum_of<std::uint64_t>(recurrent_maps(layer), &RecurrentMap::outputs);
}

std::uint64_t recurrent_matrices(const Layer& layer) {
    return sum_of<std::uint64_t>(recurrent_maps(layer), [](const auto& map) { return map.inputs * map.outputs; });
}

Module recurrent_module(const Layer& layer, std::uint32_t tensor) {
    const Recurrence& shape = layer.recurrence;
    const auto share = [&](std::uint64_t elements) {
        WEFT_CHECK(elements % tensor == 0, fmt::format("{} elements of a mixer on {} ranks", elements, tensor));
        return elements / tensor;
    };
    Module module{.name = "qkv"};
    const auto add = [&](std::uint64_t elements, std::uint64_t rows, bool vector) {
        if (elements == 0) return;
        module.tensors.push_back(elements);
        module.vector.push_back(vector);
        module.rows.push_back({rows});
    };
    for (const RecurrentMap& map : recurrent_maps(layer)) {
        const std::uint64_t outputs = map.whole ? map.outputs : share(map.outputs);
        add(map.inputs * outputs, outputs, false);
    }
    const std::uint64_t channels = share(convolved_channels(layer)), heads = share(shape.heads);
    add(channels * shape.convolution, channels, false);
    const auto vector = [&](std::uint64_t elements) { add(elements, elements, true); };
    switch (layer.mixer) {
        case Mixer::mamba2:  // the convolution's bias; dt_bias, A_log, D; a norm of all values
            for (const std::uint64_t elements : {channels, heads, heads, heads}) vector(elements);
            vector(share(recurrent_values(shape)));
            break;
        case Mixer::gated_delta:  // dt_bias, A_log; a norm of one head
            for (const std::uint64_t elements : {heads, heads, std::uint64_t{shape.value_size}}) vector(elements);
            break;
        case Mixer::kimi_delta:
            for (const std::uint64_t elements : {heads, share(recurrent_keys(shape))}) vector(elements);
            vector(shape.value_size);
            break;
        default:  // lightning attention's norm of all values
            vector(share(recurrent_values(shape)));
    }
    return module;
}

double recurrent_flops(const Layer& layer) {
    const Recurrence& shape = layer.recurrence;
    const Algorithm& algorithm = algorithm_of(layer.mixer);
    const double c = shape.chunk, k = shape.key_size, v = shape.value_size, heads = shape.heads;
    const double scored = algorithm.shared_scores ? shape.key_heads : shape.heads;
    const Products& of = algorithm.forward;
    return 2.0 * (of.scores * c * k * scored + (of.outputs * c * v + of.states * k * v) * heads);
}

LayerPiece recurrent_maps_piece(const Layer& layer, const Shard& shard) {
    const Sizes size(layer, shard);
    LayerPiece piece = piece_of(Piece::qkv, "qkv");
    for (const RecurrentMap& map : recurrent_maps(layer)) {
        const double inputs = static_cast<double>(map.inputs), outputs = map.outputs_on(shard.tensor);
        add_map(piece, map.names, false, {.rows = size.tokens, .inputs = inputs, .outputs = outputs},
                size.element_bytes);
    }
    return piece;
}

// Convolution, activation and, of the delta rules, norms of queries and keys are one pass over what is convolved; the
// gated norm reads values and gates. Backward, each also reads the gradient, and makes its input again.
LayerPiece recurrent_core_piece(const Layer& layer, const Shard& shard) {
    const Sizes size(layer, shard);
    const Algorithm& algorithm = algorithm_of(layer.mixer);
    const double e = size.element_bytes, norms = algorithm.inverts ? 2.0 * size.keys : 0.0;
    LayerPiece piece = piece_of(Piece::core, {});
    const auto add_pass = [&](std::vector<Kernel>& kernels, std::string_view name, double per_token) {
        if (per_token > 0) kernels.push_back(memory_kernel(name, per_token * size.tokens, e));
    };
    add_pass(piece.forward, "convolution", 2.0 * size.convolved);
    add_pass(piece.forward, "query and key norm", 2.0 * norms);
    add_products(piece.forward, algorithm, algorithm.forward, {"chunk scores", "chunk outputs", "chunk states"}, size);
    piece.forward.push_back(memory_kernel("state passing", chunk_bytes(algorithm, size), 1.0));
    add_pass(piece.forward, "gated norm", 3.0 * size.values);
    add_pass(piece.input_backward, "gated norm gradient", 6.0 * size.values);
    piece.input_backward.push_back(memory_kernel("state passing gradient", 2.0 * chunk_bytes(algorithm, size), 1.0));
    add_products(piece.input_backward, algorithm, algorithm.backward,
                 {"chunk scores gradient", "chunk outputs gradient", "chunk states gradient"}, size);
    add_pass(piece.input_backward, "query and key norm gradient", 3.0 * norms);
    add_pass(piece.input_backward, "convolution gradient", 5.0 * size.convolved);
    return piece;
}

// mamba_ssm keeps what the maps made and what the recurrence gives, and convolves again; flash-linear-attention keeps
// what is convolved and normed, too, and the inverses of the triangles.
std::vector<SavedTensor> recurrent_saved(const Layer& layer, const Shard& shard) {
    const Sizes size(layer, shard);
    const double e = size.element_bytes;
    std::vector<SavedTensor> saved;
    const auto keep = [&](std::string_view name, double per_token) {
        saved.push_back({name, {per_token * size.tokens * e}});
    };
    keep("mixer's input", all_outputs(recurrent_maps(layer), shard.tensor));
    keep("recurrence's output", size.values);
    if (!algorithm_of(layer.mixer).inverts) return saved;
    keep("convolved queries, keys and values", size.convolved + 2.0 * size.keys);
    keep("triangles of the delta rule", size.heads * size.shape.chunk);
    return saved;
}

}  // namespace weft
