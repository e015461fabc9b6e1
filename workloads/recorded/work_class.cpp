// Names of kernels and operations as PyTorch 2.0 to 2.11 has them on NVIDIA and AMD devices: aten's operators, cuBLAS
// (nvjet, gemm, cutlass), hipBLASLt (Cijk), cuDNN, FlashAttention, Triton's and Inductor's, NCCL and RCCL, Apex.
#include "workloads/recorded/work_class.hpp"

#include <array>

#include "sim/base/check.hpp"
#include "workloads/recorded/kineto_trace.hpp"

namespace weft {
namespace {

constexpr std::array<std::string_view, work_classes> names{"attention products",
                                                           "MLP products",
                                                           "expert products",
                                                           "router products",
                                                           "logits",
                                                           "other products",
                                                           "scores",
                                                           "attention",
                                                           "element-wise",
                                                           "strided",
                                                           "broadcast",
                                                           "norm",
                                                           "reduction",
                                                           "softmax",
                                                           "gathered",
                                                           "fused passes",
                                                           "optimizer",
                                                           "parameters",
                                                           "communication",
                                                           "host copies",
                                                           "other"};

// The first row that holds decides. A text that begins with '^' is the beginning of a name, others lie anywhere in it.
struct Row {
    enum class Of : std::uint8_t { kernel, operation } of;
    std::string_view text;
    WorkClass what;
};
using enum WorkClass;
constexpr auto kernel = Row::Of::kernel, operation = Row::Of::operation;

constexpr std::array rows = {
    Row{kernel, "^nccl", communication},
    Row{kernel, "^rccl", communication},
    Row{kernel, "mscclKernel", communication},
    Row{kernel, "Memcpy HtoD", host_copies},
    Row{kernel, "Memcpy DtoH", host_copies},
    Row{operation, "^fsdp::", parameters},
    Row{operation, "_chunk_cat", parameters},
    Row{operation, "c10d::", parameters},
    Row{operation, "_foreach_", optimizer},
    Row{operation, "_fused_adam", optimizer},
    Row{operation, "_fused_sgd", optimizer},
    Row{kernel, "multi_tensor_apply", optimizer},
    Row{operation, "attention", attention},
    Row{operation, "FlashAttn", attention},
    Row{kernel, "flash_fwd", attention},
    Row{kernel, "flash_bwd", attention},
    Row{kernel, "fmha", attention},
    Row{kernel, "_sdpa_", attention},
    Row{kernel, "flash_attn", attention},
    Row{operation, "grouped_mm", other_products},
    Row{operation, "scaled_mm", other_products},
    Row{operation, "^aten::mm", other_products},
    Row{operation, "^aten::addmm", other_products},
    Row{operation, "^aten::_addmm", other_products},
    Row{operation, "^aten::bmm", scores},
    Row{operation, "^aten::baddbmm", scores},
    Row{operation, "^aten::masked_softmax", scores},
    Row{kernel, "nvjet", other_products},
    Row{kernel, "gemm", other_products},
    Row{kernel, "^Cijk_", other_products},
    Row{kernel, "cutlass", other_products},
    Row{operation, "_softmax", softmax},
    Row{operation, "nll_loss", softmax},
    Row{operation, "cross_entropy", softmax},
    Row{kernel, "cross_entropy", softmax},
    Row{operation, "vector_norm", optimizer},
    Row{operation, "norm", norm},
    Row{kernel, "layer_norm", norm},
    Row{kernel, "rms_norm", norm},
    Row{kernel, "ln_fwd", norm},
    Row{kernel, "ln_bwd", norm},
    Row{kernel, "^triton_", fused},
    Row{operation, "embedding", gathered},
    Row{operation, "^aten::index", gathered},
    Row{operation, "^aten::_index", gathered},
    Row{operation, "gather", gathered},
    Row{operation, "scatter", gathered},
    Row{operation, "^aten::topk", gathered},
    Row{operation, "sort", gathered},
    Row{operation, "^aten::bincount", gathered},
    Row{operation, "^aten::histc", gathered},
    Row{operation, "^aten::cumsum", gathered},
    Row{operation, "^aten::sum", reduction},
    Row{operation, "^aten::mean", reduction},
    Row{kernel, "reduce_kernel", reduction},
    Row{operation, "^aten::cat", strided},
    Row{kernel, "CatArray", strided},
    Row{kernel, "Memcpy DtoD", element_wise},
    Row{kernel, "elementwise", element_wise},
    Row{kernel, "Memset", element_wise},
    Row{kernel, "^void at::native", element_wise},
};

bool holds(const Row& row, const Launched& launched) {
    const std::string_view name = row.of == kernel ? launched.kernel : launched.operation;
    return row.text.starts_with('^') ? name.starts_with(row.text.substr(1)) : name.find(row.text) != name.npos;
}

// One value for each row of the other operand: its last dimension is 1.
bool has_broadcast_rows(std::string_view dims) {
    const std::vector<std::vector<double>> operands = dims_of(dims);
    if (operands.size() < 2 || operands[0].size() < 2 || operands[0].size() != operands[1].size()) return false;
    return (operands[0].back() == 1) != (operands[1].back() == 1);
}

WorkClass of_passes(PassClass pass) {
    switch (pass) {
        case PassClass::fused:
            return fused;
        case PassClass::element_wise:
            return element_wise;
        case PassClass::strided:
            return strided;
        case PassClass::broadcast:
            return broadcast;
        case PassClass::norm:
            return norm;
        case PassClass::reduction:
            return reduction;
        case PassClass::softmax:
            return softmax;
        case PassClass::gathered:
            return gathered;
        case PassClass::optimizer:
            return optimizer;
    }
    throw LogicError("a PassClass outside its enumerators");
}

}  // namespace

std::string_view name(WorkClass what) { return names[static_cast<std::size_t>(what)]; }

std::string_view name(WorkPass pass) {
    constexpr std::array<std::string_view, 5> passes{"forward", "recomputation", "backward", "data parallel",
                                                     "optimizer"};
    return passes[static_cast<std::size_t>(pass)];
}

WorkClass work_class(const Kernel& kernel) {
    if (kernel.kind == KernelKind::attention || kernel.kind == KernelKind::attention_backward) return attention;
    const auto is = [&](std::string_view part) { return kernel.name.find(part) != std::string_view::npos; };
    if (kernel.kind == KernelKind::memory) {
        if (kernel.pass != PassClass::fused) return of_passes(kernel.pass);
        if (kernel.name.starts_with("embedding")) return gathered;
        return is("norm") ? norm : fused;
    }
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

}  // namespace weft
