#include "workloads/plan/muon.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "models/transformer/kernel_parts.hpp"
#include "workloads/plan/stage_memory.hpp"

namespace weft {
namespace {

constexpr double newton_schulz_steps = 5;

bool is_of_layer(const StageModule& module) {
    constexpr std::array<std::string_view, 4> ends{"embedding", "positions", "output layer", "tied embedding"};
    return std::ranges::find(ends, module.name) == ends.end();
}

// Latent attention's maps in registration order: down and up for queries, or one map, then for keys and values.
std::vector<double> latent_inputs(const Transformer& model) {
    const double h = model.hidden, kv = model.latent.kv_rank;
    if (model.latent.q_rank == 0) return {h, h, kv};
    return {h, 1.0 * model.latent.q_rank, h, kv};
}

// How many matrices of each shape a rank updates, smaller side first.
using Shapes = std::map<std::pair<double, double>, double>;

void add(Shapes& shapes, double side, double elements, double share) {
    const double other = elements / side;
    shapes[{std::min(side, other), std::max(side, other)}] += share;
}

Shapes shapes_of(const Job& job, const Stage& stage) {
    const Transformer& model = job.model;
    Shapes shapes;
    const double ranks = job.framework->shares(job).optimizer;
    for (const StageModule& module : stage.modules) {
        if (!is_of_layer(module)) continue;
        const double share = 1.0 / (ranks == 1 ? 1.0 : module.expert ? expert_ranks(job, ranks) : ranks);
        std::size_t matrix = 0;
        for (std::size_t i = 0; i < module.tensors.size(); ++i) {
            if (module.vector[i]) continue;
            const auto elements = static_cast<double>(module.tensors[i]);
            if (module.name != "qkv") {
                add(shapes, model.hidden, elements, share);
            } else if (model.has_latent_attention()) {
                add(shapes, latent_inputs(model).at(matrix++), elements, share);
            } else {
                const auto whole = static_cast<double>(qkv_width(model));
                for (const std::uint64_t width : {query_width(model), key_width(model), value_width(model)}) {
                    add(shapes, model.hidden, elements * static_cast<double>(width) / whole, share);
                }
            }
        }
    }
    return shapes;
}

std::vector<Kernel> steps(double m, double n) {
    constexpr double fp32 = 4;
    return {gemm_kernel("muon gram", m, m, n, fp32), gemm_kernel("muon square", m, m, m, fp32),
            gemm_kernel("muon update", m, n, m, fp32)};
}

}  // namespace

double orthogonal_parameters(const Stage& stage) {
    double sum = 0;
    for (const StageModule& module : stage.modules) {
        if (!is_of_layer(module)) continue;
        for (std::size_t i = 0; i < module.tensors.size(); ++i) {
            if (!module.vector[i]) sum += static_cast<double>(module.tensors[i]);
        }
    }
    return sum;
}

Seconds orthogonalisation(const Plan& plan, const Stage& stage) {
    Seconds sum;
    for (const auto& [shape, count] : shapes_of(plan.job, stage)) {
        sum +=
            kernel_time(plan.device, Precision::bf16, steps(shape.first, shape.second)) * newton_schulz_steps * count;
    }
    return sum;
}

Flops orthogonalisation_flops(const Job& job, const Stage& stage) {
    Flops sum;
    for (const auto& [shape, count] : shapes_of(job, stage)) {
        for (const Kernel& kernel : steps(shape.first, shape.second)) sum += kernel.flops * newton_schulz_steps * count;
    }
    return sum;
}

}  // namespace weft
