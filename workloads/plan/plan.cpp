#include "workloads/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/transformer/flops.hpp"
#include "sim/io/diagnostics.hpp"
#include "topologies/machine.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

std::vector<Stage> stages(const Plan& plan) {
    const Job& job = plan.job;
    std::vector<Stage> stages;
    for (std::vector<Chunk>& chunks : stage_chunks(job)) {
        Stage stage = make_stage(plan, std::move(chunks));
        stage.slots = job.schedule->slots(job.pipeline_shape(), static_cast<std::uint32_t>(stages.size()));
        stage.memory = memory_use(job, stage);
        stages.push_back(std::move(stage));
    }
    return stages;
}

Flops hardware_flops(const Plan& plan) {
    const Job& job = plan.job;
    const PartCosts& costs = plan.costs;
    const double losses = 1.0 + job.model.mtp_layers;
    Flops micro_batch = costs.embedding_flops + (costs.head_forward_flops + costs.head_backward_flops) * losses +
                        costs.prediction_flops * (3.0 * job.model.mtp_layers);
    std::string why;
    std::uint32_t layer = 0;
    for (const std::uint32_t layers : job.part_layers(why)) {
        for (std::uint32_t i = 0; i < layers; ++i) {
            const LayerCosts& own = costs.layers[job.layer_place(layer++)];
            micro_batch += own.forward + own.backward + own.repeated;
            if (own.forward_alone) continue;
            if (job.recompute.of_layer(i) == Recompute::full) micro_batch += own.forward_again;
        }
    }
    const double ranks = job.layout.ranks_of_stage();
    Flops step = micro_batch * (ranks * job.micro_batches());
    if (job.optimizer.rule == UpdateRule::muon) {
        for (const Stage& stage : plan.stages) step += orthogonalisation_flops(job, stage) * ranks;
    }
    return step;
}

// What the job could name as its library in place of its own.
std::string instead(const MachineInfo& machine, Collective op) {
    std::vector<std::string> names;
    for (const Library& library : machine.libraries) {
        if (library.runs(op)) names.push_back("\"library\": \"" + library.name + "\"");
    }
    return names.empty() ? "" : fmt::format("; the job may say {}, which has it", fmt::join(names, " or "));
}

}  // namespace

Seconds LayerCosts::forward_time() const { return sum_of<Seconds>(pieces, &PieceCost::forward); }

Seconds LayerCosts::backward_time() const {
    return sum_of<Seconds>(pieces, [](const PieceCost& own) { return own.input_backward + own.weight_backward; });
}

std::uint32_t Stage::layers() const { return sum_of<std::uint32_t>(chunks, &Chunk::layers); }
bool Stage::has_embedding() const { return std::ranges::any_of(chunks, &Chunk::has_embedding); }
bool Stage::has_head() const { return std::ranges::any_of(chunks, &Chunk::has_head); }

bool Plan::fits() const { return stages[fullest_stage()].memory.least() <= device.memory; }

std::size_t Plan::fullest_stage() const {
    const auto it = std::ranges::max_element(stages, {}, [](const Stage& s) { return s.memory.total(); });
    return static_cast<std::size_t>(it - stages.begin());
}

Bytes Plan::reserved() const {
    const MemoryUse& use = stages[fullest_stage()].memory;
    const Bytes room = device.memory - use.overhead.least, allocated = use.allocated();
    return std::max(allocated, std::min(allocated * (1.0 + job.framework->fragmentation), room));
}

Library library_of(const Plan& plan) {
    Library library = plan.machine.library();
    if (plan.job.deepspeed.log_calls == Setting::on) library.launch += library.blocking;
    return library;
}

// Of matrix products and attention; what is bound by memory keeps its bandwidth. Interference is for the most part that
// communication takes units: what is kept for it at all times is not taken once more.
static void set_aside(Device& device, std::uint32_t units) {
    const double left = 1.0 - double(units) / device.gemm.compute_units;
    device.sustained_clock *= left;
    device.interference = std::max(device.interference * left, 1.0);
    device.gemm.compute_units -= units;
    device.gemm_eighth.compute_units = device.gemm.compute_units;
}

// What power and heat leave of the clock where devices of a node work side by side. One alone has all of it.
static double sustained_by(const Device& device, const Job& job) {
    return job.layout.ranks() == 1 ? std::max(device.sustained_clock, 1.0) : device.sustained_clock;
}

Plan empty_plan(const Study& study) {
    Plan plan{.job = study.job,
              .device = study.device,
              .machine = study.machine.info(),
              .costs = {},
              .stages = {},
              .model_flops = {},
              .hardware_flops = {},
              .host_bound = false};
    plan.machine.prefer(plan.job.library);
    plan.device.sustained_clock = sustained_by(plan.device, plan.job) * plan.job.sustained_clock;
    if (plan.job.communication_units > 0) set_aside(plan.device, plan.job.communication_units);
    const double slowest = expected_slowdown(plan.device, plan.job.nodes);
    plan.device.slowdown = 1.0 + (slowest - 1.0) * plan.job.faults.spread;
    // A host that waits for every kernel launches the next one only then.
    if (plan.job.blocking_launches == Setting::on) {
        plan.device.kernel_launch = std::max(plan.device.kernel_launch, plan.device.host_launch);
    }
    if (plan.job.layout.split == StageSplit::cost) deal_by_cost(plan.job, part_costs(plan));
    return plan;
}

Plan make_plan(const Study& study) {
    Plan plan = empty_plan(study);
    plan.costs = part_costs(plan);
    plan.stages = stages(plan);
    plan.host_bound = host_bound(plan);
    const Batch& batch = plan.job.batch;
    const double document = plan.job.packing.share > 0 ? plan.job.packing.share * batch.sequence : batch.sequence;
    plan.model_flops =
        model_flops(plan.job.model, batch.global * (batch.sequence / document), document, plan.job.trained);
    plan.hardware_flops = hardware_flops(plan);
    return plan;
}

// From a plan to what data parallelism needs to know of a stage.

ShardingInput sharding_input(const Plan& plan, std::uint32_t stage, StepKind step) {
    const Job& job = plan.job;
    const Layout& layout = job.layout;
    const double gradient_bytes = job.framework->gradient_bytes(job);
    const std::string_view element_type = element_name(job);
    return {
        .modules = plan.stages[stage].modules,
        .step = step,
        .stage = stage,
        .stages = layout.pipeline,
        .micro_batches = job.micro_batches(),
        .ranks = layout.copies(),
        .sequence_ranks = layout.copies() / layout.data,
        .expert_ranks = layout.expert_data(),
        .inner_ranks = layout.shard_ranks * (layout.copies() / layout.data),
        .expert_inner_ranks = layout.expert_shard_ranks(),
        .node_ranks = data_ranks_of_node(job),
        .model_ranks = layout.ranks() / layout.copies(),
        .tensor_ranks = layout.tensor,
        .sharing_experts = layout.expert,
        .device = &plan.device,
        .autocast = job.modules != ModuleCode::framework && job.autocast() == Autocast::on,
        .element_bytes = element_bytes(job.precision),
        .gradient_bytes = gradient_bytes,
        .element_type = element_type,
        .gradient_type = gradient_bytes == element_bytes(job.precision) ? element_type : "fp32",
        .zero = job.zero,
        .gradient_overlap = job.gradient_overlap,
        .bucket_elements = job.bucket_elements,
        .loss_scaling = job.precision == Precision::fp16 ? LossScaling::dynamic : LossScaling::none,
        .embedding_tie =
            job.copies_embedding() && job.trained.trains("embedding") ? EmbeddingTie::over_stages : EmbeddingTie::none,
        .checkpointing = runs_again(job.recompute.granularity) ? Checkpointing::marked_layers : Checkpointing::none,
        .optimizer = job.optimizer,
        .host_link = plan.machine.host ? plan.machine.host->link : BytesPerSecond{},
        .drives_read = plan.machine.host ? plan.machine.host->drives_read / plan.job.ranks_per_node : BytesPerSecond{},
        .deepspeed = job.deepspeed,
        .megatron = job.megatron,
        .fsdp = job.fsdp,
        .ddp = job.ddp};
}

std::set<Collective> collectives_of(const Plan& plan) {
    std::set<Collective> ops;
    for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
        const Script script = step_script(plan, stage, plan.job.step);
        for (const Call& call : script.calls()) ops.insert(call.op);
    }
    return ops;
}

void check_calls(const Plan& plan) {
    const Library& library = plan.machine.library();
    const auto runs = [&](Collective op) { return library.runs(op); };
    if (std::ranges::all_of(every_collective, runs)) return;
    std::vector<Diagnostic> errors;
    for (const Collective op : collectives_of(plan)) {
        if (runs(op)) continue;
        errors.push_back({.file = {},
                          .key = "library",
                          .message = fmt::format("{} calls {}, for which {} on {} has no costs: its \"costs\" in the "
                                                 "machine file need a row with \"algorithm\" {}{}",
                                                 plan.job.framework->name, name(op), library.name, plan.machine.name,
                                                 fmt::join(algorithms_of(op), " or "), instead(plan.machine, op))});
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
}

}  // namespace weft
