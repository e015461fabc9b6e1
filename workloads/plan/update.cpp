#include <algorithm>
#include <array>
#include <map>
#include <numeric>
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
        for (std::size_t i = 0; i < module.tensors.size(); ++i) {
            if (module.vector[i] || !module.trains(i)) continue;
            const auto elements = static_cast<double>(module.tensors[i]);
            if (module.name != "qkv") {
                add(shapes, model.hidden, elements, share);
                continue;
            }
            const std::vector<std::uint64_t>& rows = module.rows[i];  // queries, keys and values apart
            const double inputs =
                elements / static_cast<double>(std::accumulate(rows.begin(), rows.end(), std::uint64_t{0}));
            for (const std::uint64_t outputs : rows) add(shapes, inputs, inputs * static_cast<double>(outputs), share);
        }
    }
    return shapes;
}

std::vector<Kernel> steps(double m, double n) {
    constexpr double fp32 = 4;
    return {gemm_kernel("muon gram", m, m, n, fp32), gemm_kernel("muon square", m, m, m, fp32),
            gemm_kernel("muon update", m, n, m, fp32)};
}

// DeepSpeedCPUAdam (csrc/adam/cpu_adam_impl.cpp) after the gradients were scaled and clipped, in bytes per parameter:
// gradient r 4 w 4; gradient, master copy, momentum and variance r 16, the last three w 12. All ranks of a node share
// the bandwidth of its host's memory.
// From drives master copy, momentum, variance and gradient come, and the first three and the parameters, if these are
// there, go back, before and after (pipeline_read and pipeline_write are off unless asked for).
Seconds optimizer_on_host(const Plan& plan, const Stage& stage) {
    constexpr double bytes = 36, from_drives = 16, to_drives = 12;
    const Job& job = plan.job;
    const HostInfo& host = *plan.machine.host;
    const Bytes byte_of_each{updated_parameters(job, stage) * job.ranks_per_node};
    Seconds time = byte_of_each * bytes / host.memory_bandwidth;
    if (job.optimizer.states == StatesOn::nvme) {
        time += byte_of_each * from_drives / host.drives_read + byte_of_each * to_drives / host.drives_write;
    }
    if (job.deepspeed.parameters == ParametersOn::nvme) {
        time += byte_of_each * element_bytes(job.precision) / host.drives_write;
    }
    return time;
}

// Megatron-core's HybridDeviceOptimizer (core/optimizer/cpu_offloading/hybrid_optimizer.py, step), one after another:
// gradients in fp32 to the host, torch's fused Adam there (gradient r 4; parameter, momentum and variance r 12 w 12),
// parameters in working precision back.
Seconds update_of_fraction(const Plan& plan, const Stage& stage) {
    constexpr double gradient = 4, bytes = 28;
    const Job& job = plan.job;
    const HostInfo& host = *plan.machine.host;
    const Bytes byte_of_each{updated_parameters(job, stage) * job.optimizer.fraction};
    return byte_of_each * (gradient + element_bytes(job.precision)) / host.link +
           byte_of_each * bytes * job.ranks_per_node / host.memory_bandwidth;
}

}  // namespace

double orthogonal_parameters(const Stage& stage) {
    double sum = 0;
    for (const StageModule& module : stage.modules) {
        if (!is_of_layer(module)) continue;
        for (std::size_t i = 0; i < module.tensors.size(); ++i) {
            if (!module.vector[i] && module.trains(i)) sum += static_cast<double>(module.tensors[i]);
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

Seconds update_time(const Plan& plan, const Stage& stage) {
    const Job& job = plan.job;
    const bool leaves = job.optimizer.leave_device(), hybrid = leaves && job.framework->name == "megatron";
    if (leaves && !hybrid) return optimizer_on_host(plan, stage);
    const UpdateTraffic traffic = job.framework->update_traffic(job);
    const double held = stage.trained() / job.framework->shares(job).gradients;
    const double stay = hybrid ? 1.0 - job.optimizer.fraction : 1.0;
    const Bytes moved{traffic.held * held + traffic.updated * updated_parameters(job, stage) * stay};
    Seconds passes = pass_time(plan.device, moved, PassClass::optimizer);
    // Elsewhere the host's part is of its stream (StageWriter::finish).
    if (job.modules == ModuleCode::framework) {
        passes = std::max(passes, plan.device.host_launch * update_operations(job, stage.modules));
    }
    if (hybrid) return passes + update_of_fraction(plan, stage);
    return job.optimizer.rule == UpdateRule::muon ? passes + orthogonalisation(plan, stage) : passes;
}

Seconds passes_of_update(const Plan& plan, const Stage& stage) {
    Plan prompt = plan;
    prompt.device.host_launch = {};
    prompt.device.kernel_launch = {};
    return std::min(update_time(prompt, stage), stage.optimizer);
}

}  // namespace weft
