#include "models/transformer/flops.hpp"

#include "models/transformer/prediction.hpp"

namespace weft {
namespace {

// Elements of the matrices that a token meets in one layer: biases and norms do no matrix products.
double layer_matrices(const Transformer& model, LayerKind kind) {
    const double attention = static_cast<double>(qkv_matrices(model) + model.hidden * context_width(model));
    if (!has_experts(kind)) {
        return attention + model.hidden * (static_cast<double>(ffn_input_width(model)) + model.ffn_hidden);
    }
    const Experts& experts = model.experts;
    const double expert = static_cast<double>(expert_input_width(model)) + experts.ffn_hidden;
    const double shared = static_cast<double>(shared_input_width(model) + shared_width(model));
    const double scores = experts.count + (experts.shared_gate ? 1.0 : 0.0);
    return attention + model.hidden * (scores + experts.top_k * expert + shared);
}

double all_layer_matrices(const Transformer& model) {
    const double with = expert_layers(model);
    return with * layer_matrices(model, LayerKind::expert) +
           (model.layers - with) * layer_matrices(model, LayerKind::dense);
}

double vocabulary(const Transformer& model) { return static_cast<double>(padded_vocabulary(model, 1)); }

// Of all that a token meets, prediction modules and their output layers included.
double matrices(const Transformer& model) {
    const double predictions = model.mtp_layers;
    const double predicting =
        layer_matrices(model, layer_kind(model, model.layers)) + 2.0 * model.hidden * model.hidden;
    return all_layer_matrices(model) + predictions * predicting +
           (1.0 + predictions) * model.hidden * vocabulary(model);
}

}  // namespace

Flops model_flops(const Transformer& model, double sequences, double sequence) {
    const double tokens = sequences * sequence;
    const double predictions = model.mtp_layers;
    const LayerKind last = layer_kind(model, model.layers);
    const double windowed = windowed_layers(model) + (is_windowed(last) ? predictions : 0.0);
    const double layers = all_layers(model) - windowed + windowed * window_share(model.window, sequence);
    const double scores = layers * static_cast<double>(query_width(model) + context_width(model)) * sequence;
    return {6.0 * tokens * (matrices(model) + scores)};
}

Flops megatron_flops(const Transformer& model, double sequences, double sequence, Passes passes) {
    const double h = model.hidden, layers = model.layers;
    const double shape = 1.0 + sequence / (6.0 * h) + vocabulary(model) / (16.0 * layers * h);
    return {24.0 * static_cast<double>(passes) * sequences * sequence * layers * h * h * shape};
}

Flops megatron_core_2024_flops(const Transformer& model, double sequences, double sequence) {
    const double h = model.hidden, layers = model.layers;
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
    const Experts& experts = model.experts;
    const double last_routed = has_experts(layer_kind(model, model.layers)) ? model.mtp_layers : 0.0;
    const double routed = experts.count == 0 ? 0.0 : expert_layers(model) + last_routed;
    const double router = model.hidden * (experts.count + (experts.shared_gate ? 1.0 : 0.0));
    const double scores = all_layers(model) * static_cast<double>(query_width(model) + context_width(model)) * sequence;
    return {6.0 * sequences * sequence * (matrices(model) - routed * router + scores / 2.0)};
}

Flops neox_2022_flops(const Transformer& model, double sequences, double sequence) {
    const double attention = 60.0 * sequence * model.hidden * model.layers;
    return {sequences * sequence * (6.0 * static_cast<double>(parameters(model)) + attention)};
}

}  // namespace weft
