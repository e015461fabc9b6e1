// Sizes of ZeRO++'s quantised messages (arXiv 2306.10209; DeepSpeed 0.14.0 runtime/zero/partition_parameters.py
// CUDAQuantizer, runtime/comm/coalesced_collectives.py all_to_all_quant_reduce).
#pragma once

#include <cstdint>

namespace weft {

// Scales of `elements` quantised weights: groups of at most 8,000 elements first, as few as divide them by eights,
// then halved while they are larger than that; never 16,000 or more where a division exists.
std::uint64_t quantization_groups(std::uint64_t elements);

// The two hops of a quantised gradient, bytes of one rank's buffer each.
struct QuantizedReduction {
    double inner_values = 0;  // 4 bits per element of the whole gradient, inside the node
    double inner_scales = 0;  // fp32
    double outer_values = 0;  // 4 bits per element of what is left after the first reduction
    double outer_scales = 0;
};

// `longest_side`: of the matrix. `ranks` in the data group, `node_ranks` of them in a node.
QuantizedReduction quantized_reduction(std::uint64_t elements, std::uint64_t longest_side, std::uint32_t ranks,
                                       std::uint32_t node_ranks);

}  // namespace weft
