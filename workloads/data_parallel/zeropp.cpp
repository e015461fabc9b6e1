#include "workloads/data_parallel/zeropp.hpp"

#include <algorithm>

namespace weft {
namespace {

constexpr std::uint64_t target_group = 8000;  // elements
constexpr std::uint64_t lanes = 8;            // elements that a kernel handles at once

}  // namespace

std::uint64_t quantization_groups(std::uint64_t elements) {
    std::uint64_t groups = (elements + target_group - 1) / target_group;
    // DeepSpeed refuses such a tensor; the plain number of groups is an assumption.
    if (elements % lanes != 0) return groups;
    while (elements % (lanes * groups) != 0) ++groups;  // elements / 8 at the latest
    while (elements % (2 * lanes * groups) == 0 && elements > target_group * groups) groups *= 2;
    return groups;
}

QuantizedReduction quantized_reduction(std::uint64_t elements, std::uint64_t longest_side, std::uint32_t ranks,
                                       std::uint32_t node_ranks) {
    const std::uint64_t inner_groups = std::max<std::uint64_t>(longest_side, ranks);
    const std::uint64_t outer_groups = inner_groups / node_ranks;
    const double values = static_cast<double>(elements) / 2;
    return {values, 4.0 * static_cast<double>(inner_groups), values / node_ranks,
            4.0 * static_cast<double>(outer_groups)};
}

}  // namespace weft
