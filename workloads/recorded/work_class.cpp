// Names of kernels and operations as PyTorch 2.0 to 2.11 has them on NVIDIA and AMD devices: aten's operators, cuBLAS
// (nvjet, gemm, cutlass), hipBLASLt (Cijk), cuDNN, FlashAttention, Triton's and Inductor's, NCCL and RCCL, Apex.
#include "workloads/recorded/work_class.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "workloads/recorded/kineto_trace.hpp"

namespace weft {
namespace {

constexpr std::array<WorkClassNames, work_classes> class_names{{
    {"attention products", "aten::mm", "gemm_attention"},
    {"MLP products", "aten::mm", "gemm_mlp"},
    {"expert products", "aten::_grouped_mm", "gemm_experts"},
    {"router products", "aten::mm", "gemm_router"},
    {"logits", "aten::mm", "gemm_logits"},
    {"other products", "aten::mm", "gemm"},
    {"scores", "aten::bmm", "gemm_scores"},
    {"recurrence", "", "chunk_scan_kernel"},
    {"attention", "aten::_scaled_dot_product_attention", "attention"},
    {"element-wise", "aten::add", "vectorized_elementwise_kernel"},
    {"strided", "aten::copy_", "elementwise_kernel_strided"},
    {"broadcast", "aten::mul", "elementwise_kernel_broadcast"},
    {"norm", "aten::native_layer_norm", "layer_norm"},
    {"reduction", "aten::sum", "reduce_kernel"},
    {"softmax", "aten::_softmax", "softmax"},
    {"gathered", "aten::index_select", "gather"},
    {"fused passes", "", "triton_fused"},
    {"optimizer", "aten::_foreach_add_", "multi_tensor_apply_kernel"},
    {"parameters", "fsdp::copy", "copy_of_parameters"},
    {"communication", "", "ncclDevKernel"},
    {"host copies", "aten::copy_", "Memcpy HtoD"},
    {"other", "weft::other", "other"},
}};
static_assert(class_names.back().name == "other");  // none is left out

// The first row that holds decides. A text that begins with '^' is the beginning of a name, others lie anywhere in it.
struct Row {
    enum class Of : std::uint8_t { kernel, operation } of;
    std::string_view text;
    WorkClass what;
};
using enum WorkClass;
constexpr auto of_kernel = Row::Of::kernel, of_operation = Row::Of::operation;

constexpr std::array rows = {
    Row{of_kernel, "^nccl", communication},
    Row{of_kernel, "^rccl", communication},
    Row{of_kernel, "mscclKernel", communication},
    Row{of_kernel, "Memcpy HtoD", host_copies},
    Row{of_kernel, "Memcpy DtoH", host_copies},
    Row{of_operation, "^fsdp::", parameters},
    Row{of_operation, "_chunk_cat", parameters},
    Row{of_operation, "c10d::", parameters},
    Row{of_operation, "_foreach_", optimizer},
    Row{of_operation, "_fused_adam", optimizer},
    Row{of_operation, "_fused_sgd", optimizer},
    Row{of_kernel, "multi_tensor_apply", optimizer},
    Row{of_operation, "attention", attention},
    Row{of_operation, "FlashAttn", attention},
    Row{of_kernel, "flash_fwd", attention},
    Row{of_kernel, "flash_bwd", attention},
    Row{of_kernel, "fmha", attention},
    Row{of_kernel, "_sdpa_", attention},
    Row{of_kernel, "flash_attn", attention},
    Row{of_kernel, "chunk_", recurrence},  // mamba_ssm's and flash-linear-attention's
    Row{of_kernel, "_state_passing_", recurrence},
    Row{of_operation, "grouped_mm", expert_products},
    Row{of_operation, "scaled_mm", other_products},
    Row{of_operation, "^aten::mm", other_products},
    Row{of_operation, "^aten::addmm", other_products},
    Row{of_operation, "^aten::_addmm", other_products},
    Row{of_operation, "^aten::bmm", scores},
    Row{of_operation, "^aten::baddbmm", scores},
    Row{of_operation, "^aten::masked_softmax", scores},
    Row{of_kernel, "nvjet", other_products},
    Row{of_kernel, "gemm", other_products},
    Row{of_kernel, "^Cijk_", other_products},
    Row{of_kernel, "cutlass", other_products},
    Row{of_operation, "_softmax", softmax},
    Row{of_operation, "nll_loss", softmax},
    Row{of_operation, "cross_entropy", softmax},
    Row{of_kernel, "cross_entropy", softmax},
    Row{of_operation, "vector_norm", optimizer},
    Row{of_operation, "norm", norm},
    Row{of_kernel, "layer_norm", norm},
    Row{of_kernel, "rms_norm", norm},
    Row{of_kernel, "ln_fwd", norm},
    Row{of_kernel, "ln_bwd", norm},
    Row{of_kernel, "^triton_", fused},
    Row{of_operation, "embedding", gathered},
    Row{of_operation, "^aten::index", gathered},
    Row{of_operation, "^aten::_index", gathered},
    Row{of_operation, "gather", gathered},
    Row{of_operation, "scatter", gathered},
    Row{of_operation, "^aten::topk", gathered},
    Row{of_operation, "sort", gathered},
    Row{of_operation, "^aten::bincount", gathered},
    Row{of_operation, "^aten::histc", gathered},
    Row{of_operation, "^aten::cumsum", gathered},
    Row{of_operation, "^aten::sum", reduction},
    Row{of_operation, "^aten::mean", reduction},
    Row{of_kernel, "reduce_kernel", reduction},
    Row{of_operation, "^aten::cat", strided},
    Row{of_kernel, "CatArray", strided},
    Row{of_kernel, "Memcpy DtoD", element_wise},
    Row{of_kernel, "elementwise", element_wise},
    Row{of_kernel, "Memset", element_wise},
    Row{of_kernel, "^void at::native", element_wise},
};

bool holds(const Row& row, const Launched& launched) {
    const std::string_view name = row.of == of_kernel ? launched.kernel : launched.operation;
    return row.text.starts_with('^') ? name.starts_with(row.text.substr(1)) : name.find(row.text) != name.npos;
}

// One value for each row of the other operand: its last dimension is 1.
bool has_broadcast_rows(std::string_view dims) {
    const std::vector<std::vector<double>> operands = dims_of(dims);
    if (operands.size() < 2 || operands[0].size() < 2 || operands[0].size() != operands[1].size()) return false;
    return (operands[0].back() == 1) != (operands[1].back() == 1);
}

// By PassClass.
constexpr std::array<WorkClass, pass_classes> of_pass{fused,     element_wise, strided,  broadcast, norm,
                                                      reduction, softmax,      gathered, optimizer};

}  // namespace

const WorkClassNames& names_of(WorkClass what) { return class_names[static_cast<std::size_t>(what)]; }

std::string_view name(WorkPass pass) {
    constexpr std::array<std::string_view, 5> passes{"forward", "recomputation", "backward", "data parallel",
                                                     "optimizer"};
    return passes[static_cast<std::size_t>(pass)];
}

WorkClass work_class(const Kernel& kernel) {
    if (kernel.kind == KernelKind::attention || kernel.kind == KernelKind::attention_backward) return attention;
    const auto is = [&](std::string_view part) { return kernel.name.find(part) != std::string_view::npos; };
    if (kernel.kind == KernelKind::memory) {
        if (kernel.pass != PassClass::fused) return of_pass[static_cast<std::size_t>(kernel.pass)];
        if (kernel.name.starts_with("embedding")) return gathered;
        return is("norm") ? norm : fused;
    }
    if (kernel.name.starts_with("chunk")) return recurrence;
    if (is("scores") || is("context")) return scores;
    if (is("experts")) return expert_products;
    if (is("router")) return router_products;
    if (is("logits")) return logits;
    if (is("h_to_4h") || is("4h_to_h") || is("prediction")) return mlp_products;
    return attention_products;
}

WorkClass work_class(const Launched& launched) {
    for (const Row& row : rows) {
        if (!holds(row, launched)) continue;
        if (row.what != element_wise || launched.is_copy || launched.is_fill) return row.what;
        // A tensor that is walked in its memory's order is read by vectorized loads.
        const bool in_order = launched.kernel.find("vectorized") != std::string_view::npos;
        if (in_order) return element_wise;
        if (has_broadcast_rows(launched.dims)) return broadcast;
        return launched.operation.find("copy") != std::string_view::npos ? strided : element_wise;
    }
    return other;
}

// Collectives and types as ParamCommsDebug names them.
std::string_view operation_of(std::string_view recorded) {
    constexpr std::pair<std::string_view, std::string_view> names[] = {{"send_recv", "send_receive"},
                                                                       {"reduce_scatter", "reduce_scatter"},
                                                                       {"reducescatter", "reduce_scatter"},
                                                                       {"allreduce", "all_reduce"},
                                                                       {"all_reduce", "all_reduce"},
                                                                       {"barrier", "all_reduce"},
                                                                       {"allgather", "all_gather"},
                                                                       {"all_gather", "all_gather"},
                                                                       {"all_to_all", "all_to_all"},
                                                                       {"alltoall", "all_to_all"},
                                                                       {"broadcast", "broadcast"},
                                                                       {"reduce", "reduce"},
                                                                       {"send", "send"},
                                                                       {"recv", "recv"}};
    for (const auto& [part, name] : names) {
        if (recorded.find(part) != recorded.npos) return name;
    }
    return {};
}

CallNames names_of(Collective op) {
    using enum Collective;
    constexpr std::array<std::pair<Collective, CallNames>, 7> known{
        {{all_reduce, {"allreduce", "AllReduce_Sum"}},
         {all_gather, {"_allgather_base", "AllGather"}},
         {reduce_scatter, {"_reduce_scatter_base", "ReduceScatter_Sum"}},
         {broadcast, {"broadcast", "Broadcast"}},
         {reduce, {"reduce", "Reduce_Sum"}},
         {all_to_all, {"all_to_all", "SendRecv"}},
         {send_receive, {"send_recv", "SendRecv"}}}};
    const auto* const found = std::ranges::find(known, op, &std::pair<Collective, CallNames>::first);
    return found == known.end() ? CallNames{"send", "SendRecv"} : found->second;
}

std::string_view name_of_type(std::string_view type) {
    if (type == "bf16") return "BFloat16";
    if (type == "fp16") return "Half";
    if (type == "fp32") return "Float";
    return type == "int64" ? "Long" : "Byte";
}

double bytes_of_type(std::string_view type) {
    const auto is = [&](std::string_view part) { return type.find(part) != type.npos; };
    if (is("Float8") || is("Byte") || is("Char") || is("Bool")) return 1;
    if (is("BFloat16") || is("Half")) return 2;
    return is("Long") || is("Double") ? 8 : 4;
}

}  // namespace weft
