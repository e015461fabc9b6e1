#include "workloads/job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/framework/stage_split.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {

PipelineShape Job::pipeline_shape() const {
    const std::uint32_t chunks = schedule->chunks == 0 ? layout.virtual_stages : schedule->chunks;
    return {layout.pipeline, micro_batches(), chunks};
}

std::uint32_t Job::model_parts() const { return layout.pipeline * pipeline_shape().chunks / schedule->copies; }

Shard Job::shard() const {
    Shard shard{
        .micro_batch = batch.micro,
        .sequence = batch.sequence,
        .element_bytes = element_bytes(precision),
        .attention = attention,
        .sequence_parallel = sequence_parallel,
        .dropout = dropout,
        .casting = precision == Precision::fp8 ? Casting::eighth : Casting::none,
        .cross_entropy = megatron.fused_cross_entropy == Setting::on ? CrossEntropy::fused : CrossEntropy::unfused,
        .element_wise = element_wise,
        .imbalance = experts.imbalance,
        .capacity_factor = experts.capacity_factor,
        .dispatch = experts.dispatcher};
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->shard != nullptr) scheme->shard(*this, shard);
    }
    return shard;
}

LayerSplit Job::split() const {
    const Shard own = shard();
    return {.tensor = own.tensor, .expert = own.expert, .expert_tensor = own.expert_tensor};
}

bool Job::reduces_experts_apart() const {
    return framework->expert_gradients == ExpertGradients::apart || layout.expert > 1 ||
           layout.expert_tensor != layout.tensor;
}

std::uint32_t data_ranks_of_node(const Job& job) {
    const std::uint64_t inner = job.layout.ranks_of_replica() / job.layout.pipeline;
    const auto ranks = static_cast<std::uint32_t>(job.ranks_per_node / inner);
    return std::min(std::max(ranks, 1U), job.layout.data);
}

std::uint32_t shard_ranks(const Job& job) {
    std::uint32_t ranks = data_ranks_of_node(job);
    if (job.framework->name == "deepspeed" && job.deepspeed.hierarchical_ranks > 1) {
        ranks = job.deepspeed.hierarchical_ranks;
    }
    if (job.framework->name == "fsdp" && job.fsdp.shard_ranks > 0) ranks = job.fsdp.shard_ranks;
    return ranks;
}

bool Job::copies_embedding() const {
    if (!model.tied_embeddings || layout.pipeline == 1) return false;
    const std::vector<Place> path = schedule->path(pipeline_shape(), 0);
    return path.front().stage != path.back().stage;
}

std::uint64_t Job::embedding_matrix() const {
    const std::uint32_t ranks = split().tensor;
    return padded_vocabulary(model, ranks) / ranks * model.hidden;
}

std::vector<std::uint32_t> Job::part_layers(std::string& why) const {
    switch (layout.split) {
        case StageSplit::even:
            return even_split(model.layers, model_parts(), why);
        case StageSplit::ends:
            return ends_split(model.layers, model_parts(), why);
        case StageSplit::framework:
            break;
    }
    return framework->split(model.layers, model_parts(), why);
}

static void check_ranks(const Job& job, const MachineInfo& machine, std::vector<JobError>& errors) {
    const Layout& layout = job.layout;
    const std::uint64_t ranks = layout.ranks_of_replica() * layout.data;
    const std::uint64_t per_node = machine.accelerators_per_node;
    const std::string product = fmt::format("{} = {} ranks", own_axes(layout), ranks);
    if (ranks > machine.nodes * per_node) {
        errors.push_back({"layout", fmt::format("{}, but {} has {} nodes of {} accelerators ({})", product,
                                                machine.name, machine.nodes, per_node, machine.nodes * per_node)});
        return;
    }
    if (job.nodes > machine.nodes) {
        errors.push_back({"nodes", fmt::format("{} has {} nodes, not {}", machine.name, machine.nodes, job.nodes)});
        return;
    }
    if (ranks > job.nodes * per_node) {
        errors.push_back({"layout", fmt::format("{} do not fit on {} nodes of {} accelerators ({})", product, job.nodes,
                                                per_node, job.nodes * per_node)});
    } else if (ranks + per_node <= job.nodes * per_node) {
        errors.push_back({"layout", fmt::format("{} leave nodes empty: {} nodes have {} accelerators; give fewer nodes "
                                                "or more data ranks",
                                                product, job.nodes, job.nodes * per_node)});
    }
}

// A program lists every operation of every micro-batch of a stage: about a dozen per layer, two more per step of a
// context ring, a dozen around experts, and what stages hand over. At some 60 bytes each, and as ranks of a stage may
// be eight classes of ranks, this many need 14 GB.
static constexpr double most_operations = 3e7;

static void check_size(const Job& job, std::vector<JobError>& errors) {
    const double micro_batches = double(job.batch.global) / (double(job.batch.micro) * job.layout.data);
    const std::uint32_t sharing = job.shard().context;
    const double per_layer = 14.0 + (sharing > 1 ? 4.0 * sharing : 0.0) + (job.model.experts.count > 0 ? 12.0 : 0.0);
    const double operations = micro_batches * (per_layer * job.model.layers + 24.0 * job.model_parts());
    if (operations <= most_operations) return;
    errors.push_back({"batch.global",
                      fmt::format("{:.0f} micro-batches through {} layers on {} stages are about {:.2g} "
                                  "operations; at most {:.2g} are simulated",
                                  micro_batches, job.model.layers, job.layout.pipeline, operations, most_operations)});
}

static void check_host(const Job& job, std::vector<JobError>& errors) {
    const Modules modules = job.framework->modules(job);
    if (job.compile == Setting::on && modules != Modules::pytorch && modules != Modules::pytorch_units) {
        errors.push_back(
            {"compile", fmt::format("torch.compile is known of plain modules (fsdp, ddp) only; those of {} "
                                    "bring their kernels",
                                    job.framework->name)});
    }
    const bool parts = job.cuda_graphs == CudaGraphs::router || job.cuda_graphs == CudaGraphs::around_experts;
    if (parts && job.model.experts.count == 0) {
        errors.push_back({"cuda_graphs", fmt::format("{} has no experts to leave out; use layer", job.model.name)});
    }
    const bool dropless = job.model.experts.count > 0 && job.experts.capacity_factor == 0.0;
    // Under HybridEP buffers have room for all that a rank may get (--moe-expert-rank-capacity-factor).
    if (job.cuda_graphs == CudaGraphs::full && dropless && job.experts.dispatcher != Dispatch::hybridep) {
        errors.push_back({"cuda_graphs",
                          "a graph of all layers needs shapes that are known before; without "
                          "experts.capacity_factor experts compute as many tokens as come"});
    }
}

std::vector<JobError> check_job(const Job& job, const MachineInfo& machine) {
    std::vector<JobError> errors;
    check_ranks(job, machine, errors);
    check_size(job, errors);
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->check != nullptr) scheme->check(job, machine, errors);
    }
    if (job.model.positions == Positions::learned && job.batch.sequence > job.model.positions_length) {
        errors.push_back(
            {"batch.sequence", fmt::format("{} tokens are more than the {} learned positions of {}", job.batch.sequence,
                                           job.model.positions_length, job.model.name)});
    }
    check_host(job, errors);
    job.framework->check(job, errors);
    return errors;
}

}  // namespace weft
