#include "models/transformer/kernel_parts.hpp"

#include <cmath>

#include "sim/base/check.hpp"

namespace weft {

Kernel gemm_kernel(std::string_view name, double m, double n, double k, double element_bytes, double count) {
    return {.name = name,
            .kind = KernelKind::gemm,
            .m = m,
            .n = n,
            .k = k,
            .count = count,
            .flops = {2.0 * m * n * k * count},
            .bytes = {(m * k + k * n + m * n) * count * element_bytes}};
}

double own_queries_and_keys(const Transformer& model, double tensor) {
    const double keys = static_cast<double>(key_width(model)) * key_copies(model, tensor);
    return (static_cast<double>(query_width(model)) + keys) / tensor;
}

// Queries, keys and values on one rank.
static double own_qkv(const Transformer& model, double tensor) {
    const double copied =
        static_cast<double>(key_width(model) + value_width(model)) * (key_copies(model, tensor) - 1.0);
    return (static_cast<double>(qkv_width(model)) + copied) / tensor;
}

// Rotary positions turn whole heads, in latent attention the rotary part of every query and the one shared by the keys.
static double rotated_width(const Transformer& model, double tensor) {
    if (!model.has_latent_attention()) return own_queries_and_keys(model, tensor);
    return 1.0 * model.latent.rope_size * (model.heads + 1) / tensor;
}

ShardSizes::ShardSizes(const Transformer& model, const Shard& shard)
    : tokens(static_cast<double>(shard.micro_batch) * shard.sequence / shard.context),
      hidden(model.hidden),
      hidden_state(tokens * hidden),
      own_state(shard.sequence_parallel == SequenceParallel::on ? hidden_state / shard.tensor : hidden_state),
      qkv(own_qkv(model, shard.tensor)),
      queries(static_cast<double>(query_width(model)) / shard.tensor),
      rotated(rotated_width(model, shard.tensor)),
      context(static_cast<double>(context_width(model)) / shard.tensor),
      ffn_inputs(static_cast<double>(ffn_input_width(model)) / shard.tensor),
      ffn(static_cast<double>(model.ffn_hidden) / shard.tensor),
      scores(tokens * model.heads * shard.sequence / shard.tensor),
      heads(static_cast<double>(shard.micro_batch) * model.heads / shard.tensor),
      element_bytes(shard.element_bytes),
      mask_bytes(shard.dropout == Dropout::on ? bytes_of_mask : 0.0) {}

// Of `group` tokens that the ranks of an expert dispatch together; as many come back from each of the expert ranks.
static double arriving_rows(const Experts& experts, const Shard& shard, double group) {
    switch (shard.dispatch) {
        case Dispatch::all_to_all:
            return group * experts.top_k;
        case Dispatch::all_gather:
            return group * shard.expert;
        case Dispatch::deepep:
        case Dispatch::hybridep:
            break;
    }
    return group * expected_units(experts, shard.expert) * shard.imbalance;
}

ExpertSizes::ExpertSizes(const Transformer& model, const Shard& shard)
    : hidden(expert_hidden(model)),
      local(static_cast<double>(model.experts.count) / shard.expert),
      inputs(static_cast<double>(expert_input_width(model)) / shard.expert_tensor),
      ffn(static_cast<double>(model.experts.ffn_hidden) / shard.expert_tensor),
      shared_inputs(static_cast<double>(shared_input_width(model)) / shard.tensor),
      shared_ffn(static_cast<double>(shared_width(model)) / shard.tensor) {
    WEFT_CHECK(model.experts.count > 0, "sizes of experts of a model without");
    WEFT_CHECK(shard.expert_tensor <= shard.tensor, "more expert-tensor ranks than tensor ranks");
    constexpr double least_capacity = 4.0;  // DeepSpeed's min_capacity
    const double tokens = ShardSizes(model, shard).tokens, count = model.experts.count;
    const double group = tokens * shard.expert_tensor / shard.tensor;  // dispatched by an expert-tensor group together
    const bool divided = shard.sequence_parallel == SequenceParallel::on && shard.routing == TokenRouting::by_owner;
    const double own = divided ? tokens / shard.tensor : group;
    routed = divided ? tokens / shard.tensor : tokens;
    arriving = arriving_rows(model.experts, shard, group);
    if (shard.capacity_factor == 0.0) {
        dispatched = own * model.experts.top_k;
        rows = group * model.experts.top_k * shard.expert / count * shard.imbalance;
        return;
    }
    const double capacity =
        std::max(least_capacity, std::ceil(shard.capacity_factor * model.experts.top_k * group / count));
    dispatched = count * capacity * (own / group);
    rows = shard.expert * capacity;
}

void add_map(LayerPiece& piece, const MapNames& names, bool biased, const MapShape& shape, double element_bytes) {
    const auto& [rows, inputs, outputs, count] = shape;
    piece.forward.push_back(gemm_kernel(names.forward, rows, outputs, inputs, element_bytes, count));
    piece.input_backward.push_back(gemm_kernel(names.input_gradient, rows, inputs, outputs, element_bytes, count));
    piece.weight_backward.push_back(gemm_kernel(names.weight_gradient, outputs, inputs, rows, element_bytes, count));
    for (Kernel* const kernel : {&piece.forward.back(), &piece.input_backward.back(), &piece.weight_backward.back()}) {
        kernel->parameters = true;
    }
    if (!biased) return;
    piece.weight_backward.push_back(memory_kernel(names.bias_gradient, count * rows * outputs, element_bytes));
}

}  // namespace weft
