// What torchtitan composes with fully_shard, and what is not simulated of it.
#include <string>

#include "workloads/data_parallel/fsdp_policy.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/layout/placed_groups.hpp"

namespace weft {
namespace {

// Data ranks that share parameters.
std::uint32_t data_shards(const Job& job) { return is_hybrid(job.fsdp) ? job.layout.shard_ranks : job.layout.data; }

void check_order_of_replicas(const Job& job, const Refusals& refuse) {
    std::string outermost;
    for (const std::string& axis : job.layout.order) {
        if (axis != "pipeline" && job.layout.size(axis) > 1) outermost = axis;
    }
    refuse.when(is_hybrid(job.fsdp) && outermost != "data" && job.layout.data > 1, "layout.order",
                "experts under hybrid sharding need a replica's ranks of a stage together, and so data as the "
                "outermost axis of a stage, not {}",
                outermost);
}

// torchtitan distributed/parallel_dims.py: the mesh of experts is dp_replicate x efsdp x ep x etp, with
// efsdp = dp_shard cp tp / (etp ep).
void check_shards_of_experts(const Job& job, const Refusals& refuse) {
    const Layout& layout = job.layout;
    if (!expert_layout_obstacle(layout).empty()) return;  // which every framework refuses
    const std::uint32_t inside = layout.ranks_of_stage() / layout.data * data_shards(job);
    const std::uint32_t group = layout.expert * layout.expert_tensor;
    if (inside % group != 0) {
        return refuse("layout.expert",
                      "expert {} x expert_tensor {} = {} does not divide the {} ranks of a replica's stage, tensor {} "
                      "x context {} x {} data ranks that share parameters; needs a divisor",
                      layout.expert, layout.expert_tensor, group, inside, layout.tensor, layout.context,
                      data_shards(job));
    }
    // Each expert is cut by its second dimension where there are fewer than ranks, which PyTorch pads only where it is
    // the first (torch/distributed/fsdp/_fully_shard/_fsdp_param.py, _init_sharded_param).
    const std::uint32_t shards = inside / group, experts = job.model.experts.count / layout.expert;
    const std::uint32_t units = job.model.experts.ffn_hidden / layout.expert_tensor, hidden = job.model.hidden;
    refuse.when(shards > experts && (units % shards != 0 || hidden % shards != 0), "layout.expert",
                "{} ranks that share {} experts cut each of them, and divide its {} units or its {} outputs unevenly; "
                "needs at most {} such ranks, or divisors of both",
                shards, experts, units, hidden, experts);
}

void check_experts(const Job& job, const Refusals& refuse) {
    const Layout& layout = job.layout;
    if (job.model.experts.count == 0) return;
    refuse.when(job.experts.capacity_factor > 0, "experts.capacity_factor",
                "torchtitan's experts take all tokens that come");
    refuse.when(layout.expert == 1 && layout.expert_tensor != layout.tensor, "layout.expert_tensor",
                "torchtitan cuts experts over the {} tensor ranks unless ranks share them; set it to {}, or "
                "layout.expert above 1",
                layout.tensor, layout.tensor);
    if (layout.expert == 1) return;
    if (job.fsdp.reshard == Reshard::over_few) {
        return refuse("layout.expert",
                      "experts that are resharded over fewer ranks are not simulated; expert parallelism under fsdp "
                      "needs fsdp.reshard_after_forward true or false");
    }
    check_order_of_replicas(job, refuse);
    check_shards_of_experts(job, refuse);
}

void check_resharding(const Job& job, const Refusals& refuse) {
    if (job.fsdp.reshard != Reshard::over_few) return;
    const std::uint32_t ranks = job.layout.copies(), few = job.fsdp.reshard_ranks;
    const std::uint32_t sharing = ranks / job.layout.data;
    if (is_hybrid(job.fsdp)) {
        return refuse("fsdp.reshard_after_forward",
                      "shards inside groups that are resharded over fewer ranks are not simulated");
    }
    refuse.when(few <= 1 || few >= ranks || ranks % few != 0 || few % sharing != 0, "fsdp.reshard_after_forward",
                "{} ranks are no part of the {} over which parameters are sharded, in multiples of the {} that share a "
                "sequence",
                few, ranks, sharing);
}

}  // namespace

void check_composition(const Job& job, std::vector<JobError>& errors) {
    const Refusals refuse(errors);
    const std::string_view key = job.schedule->key;
    refuse.when(job.layout.tensor > 1 && job.sequence_parallel == SequenceParallel::off, "sequence_parallel",
                "torchtitan's tensor parallelism shares tokens between maps");
    refuse.when(job.layout.context > 1 && job.context_method == ContextMethod::all_to_all, "context_method",
                "PyTorch's context parallelism passes keys and values on or gathers them; needs ring or all_gather");
    // Schedules of torch.distributed.pipelining that are simulated.
    refuse.when(key == "zb-h1" || key == "zb-h2", "schedule",
                "torch.distributed.pipelining has no {}; it has gpipe, 1f1b, interleaved and zb-v", key);
    refuse.when(job.layout.pipeline > 1 && job.model.tied_embeddings, "layout.pipeline",
                "torchtitan does not run a tied embedding in a pipeline");
    check_experts(job, refuse);
    check_resharding(job, refuse);
    refuse.when(job.gradient_overlap == Setting::off, "overlap_gradients",
                "fsdp always reduces gradients under the backward pass");
    refuse.when(job.fsdp.limit_all_gathers == Setting::off, "fsdp.limit_all_gathers",
                "fully_shard always limits its gathers");
    refuse.when(job.fsdp.backward_prefetch != BackwardPrefetch::before, "fsdp.backward_prefetch",
                "fully_shard prefetches before the gradients of a unit");
}

}  // namespace weft
