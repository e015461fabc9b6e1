// Names of kernels and operations as PyTorch 2.0 to 2.11 has them on NVIDIA and AMD devices: aten's operators, cuBLAS
// (nvjet, gemm, cutlass), hipBLASLt (Cijk), cuDNN, FlashAttention, Triton's and Inductor's, NCCL and RCCL, Apex.
#include "workloads/recorded/work_class.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/texts.hpp"
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

// The first row of which a text holds decides. One that begins with '^' is the beginning of a name, others lie anywhere
// in it.
struct Row {
    enum class Of : std::uint8_t { kernel, operation } of;
    WorkClass what;
    std::array<std::string_view, 10> texts;
};
using enum WorkClass;
constexpr auto of_kernel = Row::Of::kernel, of_operation = Row::Of::operation;

constexpr std::array rows = {
    Row{of_kernel, communication, {"^nccl", "^rccl", "mscclKernel"}},
    Row{of_kernel, host_copies, {"Memcpy HtoD", "Memcpy DtoH"}},
    Row{of_operation, parameters, {"^fsdp::", "_chunk_cat", "c10d::"}},
    Row{of_operation, optimizer, {"_foreach_", "_fused_adam", "_fused_sgd"}},
    Row{of_kernel, optimizer, {"multi_tensor_apply"}},
    Row{of_operation, attention, {"attention", "FlashAttn"}},
    Row{of_kernel, attention, {"flash_fwd", "flash_bwd", "fmha", "_sdpa_", "flash_attn"}},
    Row{of_kernel, recurrence, {"chunk_", "_state_passing_"}},  // mamba_ssm's and flash-linear-attention's
    Row{of_operation, expert_products, {"grouped_mm"}},
    Row{of_operation, other_products, {"scaled_mm", "^aten::mm", "^aten::addmm", "^aten::_addmm"}},
    Row{of_operation, scores, {"^aten::bmm", "^aten::baddbmm", "^aten::masked_softmax"}},
    Row{of_kernel, other_products, {"nvjet", "gemm", "^Cijk_", "cutlass"}},
    Row{of_operation, softmax, {"_softmax", "nll_loss", "cross_entropy"}},
    Row{of_kernel, softmax, {"cross_entropy"}},
    Row{of_operation, optimizer, {"vector_norm"}},
    Row{of_operation, norm, {"norm"}},
    Row{of_kernel, norm, {"layer_norm", "rms_norm", "ln_fwd", "ln_bwd"}},
    Row{of_kernel, fused, {"^triton_"}},
    Row{of_operation,
        gathered,
        {"embedding", "^aten::index", "^aten::_index", "gather", "scatter", "^aten::topk", "sort", "^aten::bincount",
         "^aten::histc", "^aten::cumsum"}},
    Row{of_operation, reduction, {"^aten::sum", "^aten::mean"}},
    Row{of_kernel, reduction, {"reduce_kernel"}},
    Row{of_operation, strided, {"^aten::cat"}},
    Row{of_kernel, strided, {"CatArray"}},
    Row{of_kernel, element_wise, {"Memcpy DtoD", "elementwise", "Memset", "^void at::native"}},
};

bool holds(const Row& row, const Launched& launched) {
    const std::string_view name = row.of == of_kernel ? launched.kernel : launched.operation;
    return std::ranges::any_of(row.texts, [name](std::string_view text) {
        return text.starts_with('^') ? name.starts_with(text.substr(1)) : !text.empty() && contains(name, text);
    });
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
        if (contains(launched.kernel, "vectorized")) return element_wise;
        if (has_broadcast_rows(launched.dims)) return broadcast;
        return launched.operation.find("copy") != std::string_view::npos ? strided : element_wise;
    }
    return other;
}

// Collectives and types as ParamCommsDebug names them: the first that has one of the words.
std::string_view operation_of(std::string_view recorded) {
    struct Words {
        std::string_view operation;
        std::array<std::string_view, 3> parts;
    };
    constexpr Words operations[] = {{"send_receive", {"send_recv"}},
                                    {"reduce_scatter", {"reduce_scatter", "reducescatter"}},
                                    {"all_reduce", {"allreduce", "all_reduce", "barrier"}},
                                    {"all_gather", {"allgather", "all_gather"}},
                                    {"all_to_all", {"all_to_all", "alltoall"}},
                                    {"broadcast", {"broadcast"}},
                                    {"reduce", {"reduce"}},
                                    {"send", {"send"}},
                                    {"recv", {"recv"}}};
    for (const auto& [operation, parts] : operations) {
        for (const std::string_view part : parts) {
            if (!part.empty() && contains(recorded, part)) return operation;
        }
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
