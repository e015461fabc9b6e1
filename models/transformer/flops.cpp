#include "models/transformer/flops.hpp"

#include <algorithm>

#include "models/transformer/encoder.hpp"
#include "models/transformer/prediction.hpp"
#include "models/transformer/recurrence.hpp"

namespace weft {
namespace {

// Elements of the matrices that a token meets in one layer: biases and norms do no matrix products. `model` is of_kind.
double mixer_matrices(const Transformer& model) {
    return static_cast<double>(qkv_matrices(model) +
                               (model.mixer == Mixer::none ? 0 : model.hidden * context_width(model)));
}
double layer_matrices(const Transformer& model, LayerKind kind, EnumSet<ModelPart> parts) {
    const auto counted = [&](ModelPart part, double elements) { return parts.has(part) ? elements : 0.0; };
    const double mixer = counted(ModelPart::attention, mixer_matrices(model));
    if (!has_feed_forward(model, kind)) return mixer;
    if (!has_experts(kind)) {
        const double widths = static_cast<double>(ffn_input_width(model)) + model.ffn_hidden;
        return mixer + counted(ModelPart::mlp, model.hidden * widths);
    }
    const Experts& experts = model.experts;
    const double expert = static_cast<double>(expert_input_width(model)) + experts.ffn_hidden;
    const double shared = static_cast<double>(shared_input_width(model) + shared_width(model));
    const double scores = experts.count + (experts.shared_gate ? 1.0 : 0.0);
    return mixer + counted(ModelPart::experts, expert_hidden(model) * experts.top_k * expert + model.hidden * shared) +
           counted(ModelPart::router, model.hidden * (scores + 2.0 * experts.latent));
}

// Multiply-adds per token and token met of attention's scores and sums; with `share` of the pairs that a layer scores.
double score_width(const Transformer& model) {
    if (model.mixer != Mixer::attention) return 0;
    return static_cast<double>(query_width(model) + context_width(model));
}
double attended_share(const Transformer& model, LayerKind kind, double sequence) {
    if (model.indexer.heads > 0) return window_share(model.indexer.chosen(), sequence);
    return is_windowed(kind) ? window_share(model.window, sequence) : 1.0;
}
// Per token: products of a recurrence, and an indexer's scores.
double further_multiply_adds(const Transformer& model, double sequence) {
    if (is_recurrent(model.mixer)) return recurrent_flops(model) / 2.0;
    return 1.0 * model.indexer.heads * model.indexer.head_size * sequence;
}

// Sums `count(model of the kind, kind)` over layers of the language model, those of prediction modules included.
template <class Count>
double over_layers(const Transformer& model, Count count) {
    double sum = 0;
    each_kind(model, all_layers(model), [&](LayerKind kind, std::uint32_t layers) {
        if (layer_of(model, kind).of == LayerOf::language) sum += layers * count(of_kind(model, kind), own_kind(kind));
    });
    return sum;
}

double vocabulary(const Transformer& model) { return static_cast<double>(padded_vocabulary(model, 1)); }

// Of these parts of all that a token meets, prediction modules and their output layers included.
double matrices(const Transformer& model, EnumSet<ModelPart> parts = whole_model) {
    const double predictions = model.mtp_layers;
    const double layers =
        over_layers(model, [&](const Transformer& own, LayerKind kind) { return layer_matrices(own, kind, parts); });
    const double outputs = parts.has(ModelPart::head) ? (1.0 + predictions) * model.hidden * vocabulary(model) : 0.0;
    return layers + predictions * 2.0 * model.hidden * model.hidden + outputs;
}

// What num_floating_point_operations() takes a mixer's maps and products for, in multiply-adds per token.
double counted_mixer(const Transformer& model, double sequence, bool hybrid) {
    const Recurrence& shape = model.recurrence;
    const double h = model.hidden;
    const double keys = static_cast<double>(recurrent_keys(shape)),
                 values = static_cast<double>(recurrent_values(shape));
    if (model.mixer == Mixer::mamba2) {
        const double inner = 2.0 * h;
        return h * (2.0 * inner + 2.0 * keys + shape.heads) + 3.5 * inner * shape.key_size + inner * h;
    }
    if (model.mixer == Mixer::gated_delta) {
        const double rule = 4.0 * shape.heads * shape.value_size * shape.value_size;
        return h * (2.0 * keys + 3.0 * values + 2.0 * shape.heads) + shape.convolution * (2.0 * keys + values) + rule;
    }
    if (hybrid && model.has_latent_attention()) return 0;
    Transformer own = model;
    own.indexer = {};
    if (hybrid) own.attention_gate = AttentionGate::none;
    const double recurrence = is_recurrent(model.mixer) ? recurrent_flops(model) / 2.0 : 0.0;
    return mixer_matrices(own) + score_width(own) * sequence / 2.0 + recurrence;
}

}  // namespace

bool is_hybrid(const Transformer& model) {
    return std::ranges::any_of(kinds_of(model), [&](LayerKind kind) {
        const Layer& layer = layer_of(model, kind);
        return layer.mixer == Mixer::none || !has_feed_forward(layer, kind);
    });
}

Flops model_flops(const Transformer& model, double sequences, double sequence, const Trained& trained) {
    const double tokens = sequences * sequence;
    const double scores = over_layers(model, [&](const Transformer& own, LayerKind kind) {
        return attended_share(own, kind, sequence) * score_width(own) * sequence + further_multiply_adds(own, sequence);
    });
    Flops beside = encoder_flops(model, sequences, trained);
    for (const Transformer& teacher : model.teacher) beside += model_flops(teacher, sequences, sequence) / 3.0;
    const Flops all = beside + Flops{6.0 * tokens * (matrices(model) + scores)};
    if (trained.everything()) return all;
    const double adapters = trained.width > 0 ? static_cast<double>(trained_parameters(model, trained)) : 0.0;
    return all + Flops{tokens * (6.0 * adapters - 2.0 * matrices(model, trained.frozen))};
}

Flops megatron_flops(const Transformer& model, double sequences, double sequence, Passes passes) {
    const double h = model.hidden, layers = model.own_layers();
    const double shape = 1.0 + sequence / (6.0 * h) + vocabulary(model) / (16.0 * layers * h);
    return {24.0 * static_cast<double>(passes) * sequences * sequence * layers * h * h * shape};
}

Flops megatron_core_2024_flops(const Transformer& model, double sequences, double sequence) {
    const double h = model.hidden, layers = model.own_layers();
    const double groups = static_cast<double>(model.kv_heads) / model.heads;
    const double queries = static_cast<double>(query_width(model)) / h;
    const double attention = (1.0 + groups + sequence / h) * queries;
    const Experts& experts = model.experts;
    const double ffn = experts.count == 0 ? model.ffn_hidden : 1.0 * experts.top_k * experts.ffn_hidden;
    const double mlp = ffn / h * (model.gated ? 1.5 : 1.0);
    const double shape = attention + mlp + vocabulary(model) / (2.0 * layers * h);
    return {12.0 * sequences * sequence * layers * h * h * shape};
}

Flops megatron_core_flops(const Transformer& model, double sequences, double sequence) {
    const bool hybrid = is_hybrid(model);
    const double counted = over_layers(model, [&](const Transformer& own, LayerKind kind) {
        const Experts& experts = own.experts;
        const double scored = experts.count + (experts.shared_gate ? 1.0 : 0.0);
        const double router = has_experts(kind) ? own.hidden * scored : 0.0;
        return counted_mixer(own, sequence, hybrid) - mixer_matrices(own) - router;
    });
    const double joined = hybrid ? 2.0 * model.mtp_layers * model.hidden * model.hidden : 0.0;
    return {6.0 * sequences * sequence * (matrices(model) + counted - joined)};
}

Flops neox_2022_flops(const Transformer& model, double sequences, double sequence) {
    const double attention = 60.0 * sequence * model.hidden * model.own_layers();
    return {sequences * sequence * (6.0 * static_cast<double>(parameters(model)) + attention)};
}

}  // namespace weft
