#include "workloads/job/job.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/transformer/kernels.hpp"
#include "models/transformer/prediction.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/parallelism/experts.hpp"
#include "workloads/parallelism/scheme.hpp"
#include "workloads/plan/stage_memory.hpp"

namespace weft {

PipelineShape Job::pipeline_shape() const {
    const std::uint32_t chunks = schedule->chunks == 0 ? layout.virtual_stages : schedule->chunks;
    const bool joint = expert_overlap(*this) == ExpertOverlap::passes;
    return {layout.pipeline, micro_batches(), chunks, joint ? PassOrder::joint : PassOrder::in_turn};
}

std::uint32_t Job::model_parts() const { return layout.pipeline * pipeline_shape().chunks / schedule->copies; }

std::size_t Job::layer_place(std::uint32_t layer) const {
    const LayerKind kind = layer_kind(model, layer);
    if (experts.by_layer.empty() || !has_experts(kind)) return static_cast<std::size_t>(kind);
    return layer_kinds(model) + layer;
}

double Job::imbalance_of(std::uint32_t layer) const {
    return experts.by_layer.empty() ? experts.imbalance : experts.by_layer[layer];
}

Job Job::of_layer(std::uint32_t layer) const {
    Job job = *this;
    const LayerKind kind = layer_kind(model, layer);
    job.model = of_kind(model, kind);
    job.trained = of_kind(model, kind, trained);
    if (job.model.of == LayerOf::encoder) {
        job.batch.sequence = model.encoder.seen();
        job.batch.micro *= model.encoder.images;
        job.batch.global *= model.encoder.images;
        job.packing = {};
    }
    job.experts.imbalance = imbalance_of(layer);
    return job;
}

// torchtitan compiles the loss with the model (compile.components of its configuration).
static CrossEntropy cross_entropy(const Job& job) {
    if (job.megatron.fused_cross_entropy == Setting::on) return CrossEntropy::fused;
    if (!is_plain(job.framework->modules(job))) return CrossEntropy::unfused;
    const bool fused = job.compile == Compile::all || job.fsdp.fused_cross_entropy == Setting::on;
    return fused ? CrossEntropy::apart : CrossEntropy::autograd;
}

Autocast Job::autocast() const { return element_bytes(precision) < 4 ? framework->autocast : Autocast::off; }

Shard Job::shard() const {
    Shard shard{.micro_batch = batch.micro,
                .sequence = batch.sequence,
                .element_bytes = element_bytes(precision),
                .attention = attention,
                // megatron/training/arguments.py: off where one tensor rank has all
                .sequence_parallel = layout.tensor > 1 ? sequence_parallel : SequenceParallel::off,
                .dropout = dropout,
                .casting = is_narrow(precision) ? recipe : Casting::none,
                .narrow_output = megatron.eighth_output == Setting::on,
                .narrow_attention = megatron.eighth_attention == Setting::on,
                .expert_passes_apart = runs_expert_passes_apart(*this),
                .pads_rows = pads_rows_of_experts(*this),
                .fuses_experts = fuses_experts(*this),
                .stashes_experts = experts.paged_stash == Setting::on,
                .cross_entropy = cross_entropy(*this),
                .element_wise = element_wise,
                .modules = modules,
                .compile = compile,
                .pytorch = pytorch,
                .autocast = autocast(),
                .imbalance = experts.imbalance,
                .capacity_factor = experts.capacity_factor,
                .dispatch = experts.dispatcher,
                .routing = framework->routing,
                .packing = packing,
                .trained = trained};
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->shard != nullptr) scheme->shard(*this, shard);
    }
    return shard;
}

LayerSplit Job::split() const {
    const Shard own = shard();
    return {.tensor = own.tensor, .expert = own.expert, .expert_tensor = own.expert_tensor, .trained = trained};
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

// Data ranks of a data_inner group: ZeRO++'s secondary partition, FSDP's shard group, else the ranks of a node that are
// data ranks (qgZ reduces inside it first).
static std::uint32_t shard_ranks(const Job& job) {
    std::uint32_t ranks = data_ranks_of_node(job);
    if (job.framework->name == "deepspeed" && job.deepspeed.hierarchical_ranks > 1) {
        ranks = job.deepspeed.hierarchical_ranks;
    }
    if (job.framework->name == "fsdp" && job.fsdp.shard_ranks > 0) ranks = job.fsdp.shard_ranks;
    // Of data x context ranks.
    if (job.framework->name == "fsdp" && job.fsdp.reshard == Reshard::over_few) {
        ranks = std::max(job.fsdp.reshard_ranks * job.layout.data / job.layout.copies(), 1U);
    }
    return ranks;
}

// Of the model's own layers, by the rule of the job.
static std::vector<std::uint32_t> dealt_layers(const Job& job, std::string& why) {
    const std::uint32_t layers = job.model.own_layers(), parts = job.model_parts();
    const StageSplit rule = job.layout.split;
    if (rule == StageSplit::even) return even_split(layers, parts, why);
    if (rule == StageSplit::ends) return ends_split(layers, parts, why);
    if (rule == StageSplit::cost) return nearly_even_split(layers, parts, why);
    if (rule == StageSplit::uniform || rule == StageSplit::parameters) return items_split(job, why);
    return rule == StageSplit::by_hand ? by_hand(job, why) : job.framework->split(layers, parts, why);
}

void settle_groups(Job& job) {
    job.model.encoder.images = job.batch.images;
    if (!job.model.teacher.empty()) {
        std::string why;  // which check_job says
        std::vector<std::uint32_t> parts = dealt_layers(job, why);
        if (!parts.empty()) parts.front() += job.model.encoder.layers;
        if (!parts.empty()) place_teacher(job.model, parts);
    }
    job.layout.shard_ranks = shard_ranks(job);
    job.layout.expert_inner = expert_inner(job);
    settle_imbalance(job);
}

std::uint32_t Job::prediction_part() const {
    const std::uint32_t last = model_parts() - 1;
    return layout.split == StageSplit::by_hand ? layout.by_hand.predictions.value_or(last) : last;
}

bool Job::predicts_apart() const { return model.mtp_layers > 0 && prediction_part() + 1 != model_parts(); }

// Where micro-batches travel in both directions the end stages hold embedding and head anyway.
bool Job::copies_embedding() const {
    if (schedule->copies > 1) return false;
    if ((!model.tied_embeddings && model.mtp_layers == 0) || layout.pipeline == 1) return false;
    const std::vector<Place> path = schedule->path(pipeline_shape(), 0);
    return path.front().stage != path[prediction_part()].stage;
}

std::uint64_t Job::embedding_matrix() const {
    const std::uint32_t ranks = split().tensor;
    return padded_vocabulary(model, ranks) / ranks * model.hidden;
}

std::vector<std::uint32_t> Job::part_layers(std::string& why) const {
    std::vector<std::uint32_t> layers = dealt_layers(*this, why);
    if (layers.empty()) return layers;
    layers.front() += model.encoder.layers;
    for (std::size_t part = 0; part < layers.size(); ++part) layers[part] += teacher_layers(model, part, layers.size());
    layers.at(prediction_part()) += model.mtp_layers;
    return layers;
}

static void check_ranks(const Job& job, const MachineInfo& machine, const Refusals& refuse) {
    const Layout& layout = job.layout;
    const std::uint64_t ranks = layout.ranks_of_replica() * layout.data;
    const std::uint64_t per_node = machine.accelerators_per_node;
    const auto product = [&] { return fmt::format("{} = {} ranks", own_axes(layout), ranks); };
    const std::uint64_t most = machine.most_nodes;
    const std::string_view has = most > machine.nodes ? "grows to" : "has";
    if (ranks > most * per_node) {
        refuse("layout", "{}, but {} {} {} nodes of {} accelerators ({})", product(), machine.name, has, most, per_node,
               most * per_node);
        return;
    }
    if (job.nodes > most) {
        refuse("nodes", "{} {} {} nodes, not {}", machine.name, has, most, job.nodes);
        return;
    }
    if (ranks > job.nodes * per_node) {
        refuse("layout", "{} do not fit on {} nodes of {} accelerators ({})", product(), job.nodes, per_node,
               job.nodes * per_node);
    } else if (ranks + per_node <= job.nodes * per_node) {
        refuse("layout", "{} leave nodes empty: {} nodes have {} accelerators; give fewer nodes or more data ranks",
               product(), job.nodes, job.nodes * per_node);
    }
}

double expected_operations(const Job& job) {
    const double micro_batches = double(job.batch.global) / (double(job.batch.micro) * job.layout.data);
    const std::uint32_t sharing = job.shard().context;
    const double per_layer = 14.0 + (sharing > 1 ? 4.0 * sharing : 0.0) + (job.model.experts.count > 0 ? 12.0 : 0.0);
    return micro_batches * (per_layer * all_layers(job.model) + 24.0 * job.model_parts());
}

// A program lists every operation; at some 60 bytes each, and as ranks of a stage may be eight classes of ranks, this
// many need 14 GB.
static constexpr double most_operations = 3e7;

static void check_size(const Job& job, const Refusals& refuse) {
    const double micro_batches = double(job.batch.global) / (double(job.batch.micro) * job.layout.data);
    const double operations = expected_operations(job);
    if (operations <= most_operations) return;
    refuse(
        "batch.global",
        "{:.0f} micro-batches through {} layers on {} stages are about {:.2g} operations; at most {:.2g} are simulated",
        micro_batches, job.model.layers, job.layout.pipeline, operations, most_operations);
}

static void check_model(const Job& job, const Refusals& refuse) {
    const Transformer& model = job.model;
    check_beside(job, refuse);
    refuse.when(
        model.mtp_layers > 0 && job.framework->name != "megatron", "model.mtp_layers",
        "{} has no modules that predict further tokens, Megatron-core has; leave them out with model.mtp_layers=0",
        job.framework->name);
    refuse.when(model.mtp_layers > 0 && model.hidden % job.layout.tensor != 0, "model.mtp_layers",
                "{} tensor ranks do not divide the {} outputs of the map of a prediction module", job.layout.tensor,
                model.hidden);
    const std::string_view key = job.trained.width > 0 ? "adapters" : "frozen";
    for (const std::string& obstacle : training_obstacles(model, job.trained, job.layout.tensor))
        refuse(key, "{}", obstacle);
    const bool flat = job.framework->name == "fsdp" && job.fsdp.version == 1;
    refuse.when(!job.trained.everything() && flat, key,
                "a flat parameter of FSDP is trained or frozen as a whole; needs fsdp.version 2");
    const bool beside_experts = adapters_beside(model, job.trained, "experts") > 0 && model.experts.count > 0;
    refuse.when(beside_experts && job.layout.expert_tensor > 1, key,
                "how tensor ranks share adapters beside experts is not known; needs layout.expert_tensor 1");
    refuse.when(beside_experts && job.framework->name != "megatron", key,
                "adapters beside experts are known of Megatron-core's; leave linear_fc1 and linear_fc2 out");
    refuse.when(job.trained.width > 0 && job.layout.tensor > 1 && job.framework->name != "megatron", key,
                "how {} cuts adapters over tensor ranks is not known; Megatron-core's are", job.framework->name);
    const Batch& batch = job.batch;
    refuse.when(batch.document > 0 && (batch.document > batch.sequence || batch.sequence % batch.document != 0),
                "batch.document", "documents of {} tokens do not fill a sequence of {}", batch.document,
                batch.sequence);
}

ModuleCode usual_modules(const Job& job) {
    const bool known = job.compile != Compile::off || !(is_narrow(job.precision) || job.model.has_latent_attention());
    const bool plain = is_plain(job.framework->modules(job)) && job.element_wise == ElementWise::fused;
    return known && plain ? ModuleCode::plain : ModuleCode::framework;
}

// What PyTorch's modules are known for, operator by operator (models/transformer/eager_pieces.cpp).
static void check_eager(const Job& job, const Refusals& refuse) {
    refuse.when(job.compile == Compile::off && job.model.has_latent_attention(), "modules",
                "latent attention is known with the framework's own modules only, or compiled");
    refuse.when(job.compile == Compile::off && is_narrow(job.precision), "modules",
                "products in 8 or 4 bits are known with the framework's own modules only, or compiled");
    refuse.when(job.element_wise != ElementWise::fused, "element_wise",
                "modules says which passes are apart; leave one of them out");
}

static void check_host(const Job& job, const Refusals& refuse) {
    const Modules modules = job.framework->modules(job);
    if (job.modules != ModuleCode::framework && !is_plain(modules)) {
        refuse("modules", "{} has layers of its own; PyTorch's modules are known under fsdp and ddp",
               job.framework->name);
    } else if (job.modules != ModuleCode::framework) {
        check_eager(job, refuse);
    }
    refuse.when(job.compile != Compile::off && !is_plain(modules), "compile",
                "torch.compile is known of plain modules (fsdp, ddp) only; those of {} bring their kernels",
                job.framework->name);
    const bool parts = job.cuda_graphs == CudaGraphs::router || job.cuda_graphs == CudaGraphs::around_experts;
    refuse.when(parts && job.model.experts.count == 0, "cuda_graphs", "{} has no experts to leave out; use layer",
                job.model.name);
    const bool dropless = job.model.experts.count > 0 && job.experts.capacity_factor == 0.0;
    // Under HybridEP buffers have room for all that a rank may get (--moe-expert-rank-capacity-factor).
    refuse.when(job.cuda_graphs == CudaGraphs::full && dropless && job.experts.dispatcher != Dispatch::hybridep,
                "cuda_graphs",
                "a graph of all layers needs shapes that are known before; without experts.capacity_factor experts "
                "compute as many tokens as come");
}

std::vector<JobError> check_job(const Job& job, const MachineInfo& machine, Mistakes asked) {
    std::vector<JobError> errors;
    const Refusals refuse(errors);
    const auto is_enough = [&] { return asked == Mistakes::first && !errors.empty(); };
    check_ranks(job, machine, refuse);
    check_size(job, refuse);
    for (const Scheme* scheme : parallelism::all()) {
        if (scheme->check != nullptr && !is_enough()) scheme->check(job, machine, refuse);
    }
    if (is_enough()) return errors;
    refuse.when(job.model.positions == Positions::learned && job.batch.sequence > job.model.positions_length,
                "batch.sequence", "{} tokens are more than the {} learned positions of {}", job.batch.sequence,
                job.model.positions_length, job.model.name);
    check_model(job, refuse);
    check_documents(job, refuse);
    check_host(job, refuse);
    check_recompute(job, refuse);
    check_optimizer(job, machine, refuse);
    job.framework->check(job, refuse);
    return errors;
}

std::vector<JobError> lacking_features(const Job& job) {
    std::vector<JobError> lacking;
    if (job.framework->lacking != nullptr) job.framework->lacking(job, Refusals(lacking));
    return lacking;
}

}  // namespace weft
