#include "models/transformer/kernel_parts.hpp"

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

Kernel memory_kernel(std::string_view name, double elements, double element_bytes) {
    return {.name = name, .kind = KernelKind::memory, .flops = {}, .bytes = {elements * element_bytes}};
}

ShardSizes::ShardSizes(const Transformer& model, const Shard& shard)
    : tokens(static_cast<double>(shard.micro_batch) * shard.sequence),
      hidden(model.hidden),
      hidden_state(tokens * hidden),
      own_state(shard.sequence_parallel == SequenceParallel::on ? hidden_state / shard.tensor : hidden_state),
      qkv(static_cast<double>(qkv_width(model)) / shard.tensor),
      queries(static_cast<double>(query_width(model)) / shard.tensor),
      rotated(static_cast<double>(query_width(model) + key_value_width(model)) / shard.tensor),
      ffn_inputs(static_cast<double>(ffn_input_width(model)) / shard.tensor),
      ffn(static_cast<double>(model.ffn_hidden) / shard.tensor),
      scores(tokens * model.heads * shard.sequence / shard.tensor),
      heads(static_cast<double>(shard.micro_batch) * model.heads / shard.tensor),
      element_bytes(shard.element_bytes) {}

}  // namespace weft
