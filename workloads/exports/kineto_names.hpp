// What PyTorch's profiler calls kernels, operations, collectives and types, as traces of simulated steps have them.
#pragma once

#include <array>
#include <string_view>

#include "sim/collective/algorithm.hpp"
#include "workloads/recorded/work_class.hpp"

namespace weft::kineto {

// What a kernel of a class is called, and the operation that launches it.
struct ClassNames {
    std::string_view operation, kernel;
};
inline constexpr std::array<ClassNames, work_classes> class_names{{
    {"aten::mm", "gemm_attention"},
    {"aten::mm", "gemm_mlp"},
    {"aten::_grouped_mm", "gemm_experts"},
    {"aten::mm", "gemm_router"},
    {"aten::mm", "gemm_logits"},
    {"aten::mm", "gemm"},
    {"aten::bmm", "gemm_scores"},
    {"", "chunk_scan_kernel"},
    {"aten::_scaled_dot_product_attention", "attention"},
    {"aten::add", "vectorized_elementwise_kernel"},
    {"aten::copy_", "elementwise_kernel_strided"},
    {"aten::mul", "elementwise_kernel_broadcast"},
    {"aten::native_layer_norm", "layer_norm"},
    {"aten::sum", "reduce_kernel"},
    {"aten::_softmax", "softmax"},
    {"aten::index_select", "gather"},
    {"", "triton_fused"},
    {"aten::_foreach_add_", "multi_tensor_apply_kernel"},
    {"fsdp::copy", "copy_of_parameters"},
    {"", "ncclDevKernel"},
    {"aten::copy_", "Memcpy HtoD"},
    {"weft::other", "other"},
}};
static_assert(class_names.back().kernel == "other");  // none is left out

struct CallNames {
    std::string_view collective, kernel;
};
inline CallNames names_of(Collective op) {
    switch (op) {
        case Collective::all_reduce:
            return {"allreduce", "AllReduce_Sum"};
        case Collective::all_gather:
            return {"_allgather_base", "AllGather"};
        case Collective::reduce_scatter:
            return {"_reduce_scatter_base", "ReduceScatter_Sum"};
        case Collective::broadcast:
            return {"broadcast", "Broadcast"};
        case Collective::reduce:
            return {"reduce", "Reduce_Sum"};
        case Collective::all_to_all:
            return {"all_to_all", "SendRecv"};
        case Collective::send_receive:
            return {"send_recv", "SendRecv"};
        default:
            return {"send", "SendRecv"};
    }
}

// Types as PyTorch's profiler calls them.
inline std::string_view name_of_type(std::string_view type) {
    if (type == "bf16") return "BFloat16";
    if (type == "fp16") return "Half";
    if (type == "fp32") return "Float";
    return type == "int64" ? "Long" : "Byte";
}

}  // namespace weft::kineto
