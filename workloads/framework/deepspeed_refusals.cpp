// What DeepSpeed refuses. Sources: DeepSpeed 0.14.0 runtime/zero/{config,stage_1_and_2,stage3}.py,
// runtime/comm/coalesced_collectives.py, runtime/pipe/engine.py.
#include <array>
#include <utility>

#include "workloads/framework/refusals.hpp"
#include "workloads/layout/placed_groups.hpp"

namespace weft {
namespace {

bool on(Setting setting) { return setting == Setting::on; }

void check_reductions(const Job& job, const Refusals& refuse) {
    const bool scatters = on(job.deepspeed.reduce_scatter);
    refuse.when(!scatters && job.zero == 0, "deepspeed.reduce_scatter",
                "stage 0 all-reduces gradients whatever it says; needs zero 1 to 3, got zero 0");
    if (on(job.deepspeed.multi_rank_allreduce.value_or(Setting::on))) return;
    if (job.zero != 1 && job.zero != 2) {
        refuse("deepspeed.multi_rank_allreduce", "is read by ZeRO-1 and ZeRO-2 only; needs zero 1 or 2, got zero {}",
               job.zero);
    } else if (!scatters) {
        refuse("deepspeed.multi_rank_allreduce",
               "is not read where reduce_scatter is off: the whole bucket is all-reduced");
    }
}

void check_gathers(const Job& job, const Refusals& refuse) {
    using Elements = double DeepSpeedSettings::*;
    static constexpr std::array<std::pair<const char*, Elements>, 5> of_stage_3{
        {{"deepspeed.prefetch_elements", &DeepSpeedSettings::prefetch_elements},
         {"deepspeed.persistence_elements", &DeepSpeedSettings::persistence_elements},
         {"deepspeed.max_live_elements", &DeepSpeedSettings::max_live_elements},
         {"deepspeed.max_reuse_elements", &DeepSpeedSettings::max_reuse_elements},
         {"deepspeed.sub_group_elements", &DeepSpeedSettings::sub_group_elements}}};
    for (const auto& [key, elements] : of_stage_3) {
        refuse.when(job.zero != 3 && job.deepspeed.*elements != DeepSpeedSettings{}.*elements, key,
                    "is read by ZeRO-3 only; needs zero 3, got zero {}", job.zero);
    }
}

// qgZ's first hop is inside a node, its second one among equal places of the nodes. Inside one node nothing is
// quantised, as DeepSpeed has it.
void check_quantized_gradients(const Job& job, const Refusals& refuse) {
    const DeepSpeedSettings& own = job.deepspeed;
    if (!on(own.quantized_gradients) || job.zero != 3) return;
    refuse.when(!on(own.reduce_scatter), "deepspeed.quantized_gradients",
                "DeepSpeed quantises gradients only where reduce_scatter is on");
    const std::uint32_t of_node = data_ranks_of_node(job);
    if (job.layout.copies() <= of_node) return;
    refuse.when(own.hierarchical_ranks > 1 && own.hierarchical_ranks != of_node, "deepspeed.hierarchical_ranks",
                "{} ranks of a secondary group are not the {} data ranks of a node, inside which quantized_gradients "
                "reduces first",
                own.hierarchical_ranks, of_node);
    refuse.when(job.layout.data % of_node != 0, "deepspeed.quantized_gradients",
                "{} data ranks of a node do not divide data {}", of_node, job.layout.data);
    refuse.when(!tensor_is_innermost(job.layout), "deepspeed.quantized_gradients",
                "reduces among the data ranks of a node first; needs tensor innermost in layout.order");
}

void check_overlap(const Job& job, const Refusals& refuse) {
    if (!on(job.gradient_overlap)) return;
    refuse.when(job.layout.pipeline > 1, "overlap_gradients",
                "DeepSpeed's pipeline engine reduces gradients after the last backward; overlap needs pipeline 1");
    refuse.when(job.zero == 0, "overlap_gradients",
                "DeepSpeed stage 0 reduces after the backward pass; overlap needs zero 1 to 3");
    refuse.when(job.zero == 1 && !on(job.deepspeed.version.stage1_overlap), "overlap_gradients",
                "DeepSpeed {} ignores overlap_comm at stage 1, up to 0.12; needs zero 2 or 3, or a later version",
                job.deepspeed.version.name);
}

void check_parallelism(const Job& job, const Refusals& refuse) {
    const Layout& layout = job.layout;
    refuse.when(job.zero >= 2 && layout.pipeline > 1, "zero",
                "DeepSpeed's pipeline engine refuses ZeRO-2 and ZeRO-3; zero {} needs pipeline 1, got pipeline {}",
                job.zero, layout.pipeline);
    refuse.when(job.zero == 3 && job.schedule->needs.forwards_ahead, "schedule",
                "ZeRO-3 runs each micro-batch forward and backward in turn, not as {} orders them", job.schedule->key);
    refuse.when(job.sequence_parallel == SequenceParallel::on, "sequence_parallel",
                "GPT-NeoX on DeepSpeed has no Megatron sequence parallelism; use framework megatron");
    refuse.when(layout.context > 1 && job.context_method != ContextMethod::all_to_all, "context_method",
                "DeepSpeed shares sequences by all-to-all only (Ulysses)");
    // Megatron-DeepSpeed megatron/core/parallel_state.py, initialize_model_parallel.
    refuse.when(layout.context > 1 && layout.tensor > 1, "layout.context",
                "DeepSpeed-Ulysses does not run with tensor parallelism; context {} needs tensor 1, got tensor {}",
                layout.context, layout.tensor);
    refuse.when(
        layout.context > 1 && layout.pipeline > 1, "layout.context",
        "DeepSpeed-Ulysses does not run under the pipeline engine; context {} needs pipeline 1, got pipeline {}",
        layout.context, layout.pipeline);
    if (job.model.experts.count == 0) return;
    refuse.when(job.zero == 3, "zero", "DeepSpeed refuses mixture of experts under ZeRO-3");
    refuse.when(layout.pipeline > 1, "layout.pipeline",
                "DeepSpeed's pipeline engine does not run mixture-of-experts layers");
    refuse.when(layout.expert_tensor != layout.tensor, "layout.expert_tensor",
                "DeepSpeed cuts experts as it cuts the other maps: expert_tensor {} must equal tensor {}",
                layout.expert_tensor, layout.tensor);
}

}  // namespace

void check_deepspeed(const Job& job, std::vector<JobError>& errors) {
    const Refusals refuse(errors);
    check_reductions(job, refuse);
    check_gathers(job, refuse);
    check_quantized_gradients(job, refuse);
    check_overlap(job, refuse);
    check_parallelism(job, refuse);
    const DeepSpeedSettings& own = job.deepspeed;
    const bool quantised = on(own.quantized_weights) || on(own.quantized_gradients) || own.hierarchical_ranks > 1;
    refuse.when(quantised && job.zero != 3, "deepspeed",
                "ZeRO++ (quantized_weights, hierarchical_ranks, quantized_gradients) needs zero 3, got zero {}",
                job.zero);
    refuse.when(own.hierarchical_ranks > 1 && job.layout.data % own.hierarchical_ranks != 0,
                "deepspeed.hierarchical_ranks", "{} ranks of a secondary group do not divide data {}",
                own.hierarchical_ranks, job.layout.data);
    refuse.when(quantised && job.layout.context > 1, "deepspeed",
                "ZeRO++ is not combined with context parallelism here");
    refuse.when(on(own.partition_activations) && job.recompute.granularity != Recompute::full,
                "deepspeed.partition_activations", "partitions checkpoints, so it needs \"recompute\": \"full\"");
}

}  // namespace weft
