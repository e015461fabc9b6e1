#include "workloads/framework/fsdp_composition.hpp"

#include <fmt/format.h>

#include <string>

#include "workloads/data_parallel/fsdp_policy.hpp"
#include "workloads/job/job.hpp"
#include "workloads/layout/placed_groups.hpp"

namespace weft {
namespace {

class Composition {
  public:
    Composition(const Job& job, std::vector<JobError>& errors) : job_(job), errors_(errors) {}

    void tensor_and_context() {
        if (job_.layout.tensor > 1 && job_.sequence_parallel == SequenceParallel::off) {
            refuse("sequence_parallel",
                   "torchtitan's tensor parallelism shares tokens between maps; set "
                   "sequence_parallel");
        }
        if (job_.layout.context > 1 && job_.context_method == ContextMethod::all_to_all) {
            refuse("context_method",
                   "PyTorch's context parallelism passes keys and values on or gathers them; needs "
                   "ring or all_gather");
        }
    }

    // Schedules of torch.distributed.pipelining that are simulated.
    void pipeline() {
        const std::string_view key = job_.schedule->key;
        if (key == "zb-h1" || key == "zb-h2") {
            refuse("schedule", fmt::format("torch.distributed.pipelining has no {}; it has gpipe, 1f1b, interleaved "
                                           "and zb-v",
                                           key));
        }
        if (job_.layout.pipeline > 1 && job_.model.tied_embeddings) {
            refuse("layout.pipeline", "torchtitan does not run a tied embedding in a pipeline");
        }
    }

    void experts() {
        if (job_.model.experts.count == 0) return;
        if (job_.experts.capacity_factor > 0) {
            refuse("experts.capacity_factor", "torchtitan's experts take all tokens that come");
        }
        if (job_.layout.expert == 1 && job_.layout.expert_tensor != job_.layout.tensor) {
            refuse(
                "layout.expert_tensor",
                fmt::format("torchtitan cuts experts over the {} tensor ranks unless ranks share them; set it to {}, "
                            "or layout.expert above 1",
                            job_.layout.tensor, job_.layout.tensor));
        }
        if (job_.layout.expert == 1) return;
        if (job_.fsdp.reshard == Reshard::over_few) {
            refuse("layout.expert",
                   "experts that are resharded over fewer ranks are not simulated; expert parallelism under fsdp needs "
                   "fsdp.reshard_after_forward true or false");
        }
        order_of_replicas();
        shards_of_experts();
    }

    void order_of_replicas() {
        std::string outermost;
        for (const std::string& axis : job_.layout.order) {
            if (axis != "pipeline" && job_.layout.size(axis) > 1) outermost = axis;
        }
        if (!is_hybrid(job_.fsdp) || outermost == "data" || job_.layout.data == 1) return;
        refuse(
            "layout.order",
            fmt::format("experts under hybrid sharding need a replica's ranks of a stage together, and so data as the "
                        "outermost axis of a stage, not {}",
                        outermost));
    }

    // torchtitan distributed/parallel_dims.py: the mesh of experts is dp_replicate x efsdp x ep x etp, with
    // efsdp = dp_shard cp tp / (etp ep).
    void shards_of_experts() {
        const Layout& layout = job_.layout;
        if (!expert_layout_obstacle(layout).empty()) return;  // which every framework refuses
        const std::uint32_t inside = layout.ranks_of_stage() / layout.data * data_shards();
        const std::uint32_t group = layout.expert * layout.expert_tensor;
        if (inside % group != 0) {
            refuse("layout.expert",
                   fmt::format("expert {} x expert_tensor {} = {} does not divide the {} ranks of a replica's stage, "
                               "tensor {} x context {} x {} data ranks that share parameters; needs a divisor",
                               layout.expert, layout.expert_tensor, group, inside, layout.tensor, layout.context,
                               data_shards()));
            return;
        }
        const std::uint32_t shards = inside / group, experts = job_.model.experts.count / layout.expert;
        if (shards <= experts) return;
        // Each is cut by its second dimension, which PyTorch pads only where it is the first
        // (torch/distributed/fsdp/_fully_shard/_fsdp_param.py, _init_sharded_param).
        const std::uint32_t units = job_.model.experts.ffn_hidden / layout.expert_tensor, hidden = job_.model.hidden;
        if (units % shards == 0 && hidden % shards == 0) return;
        refuse("layout.expert",
               fmt::format("{} ranks that share {} experts cut each of them, and divide its {} units or its {} outputs "
                           "unevenly; needs at most {} such ranks, or divisors of both",
                           shards, experts, units, hidden, experts));
    }

    void resharding() {
        if (job_.fsdp.reshard != Reshard::over_few) return;
        const std::uint32_t ranks = job_.layout.copies(), few = job_.fsdp.reshard_ranks;
        const std::uint32_t sharing = ranks / job_.layout.data;
        if (is_hybrid(job_.fsdp)) {
            refuse("fsdp.reshard_after_forward",
                   "shards inside groups that are resharded over fewer ranks are not "
                   "simulated");
        } else if (few <= 1 || few >= ranks || ranks % few != 0 || few % sharing != 0) {
            refuse("fsdp.reshard_after_forward",
                   fmt::format("{} ranks are no part of the {} over which parameters are sharded, in multiples of the "
                               "{} that share a sequence",
                               few, ranks, sharing));
        }
    }

    void version() {
        if (job_.gradient_overlap == Setting::off) {
            refuse("overlap_gradients", "fsdp always reduces gradients under the backward pass");
        }
        if (job_.fsdp.limit_all_gathers == Setting::off) {
            refuse("fsdp.limit_all_gathers", "fully_shard always limits its gathers");
        }
        if (job_.fsdp.backward_prefetch != BackwardPrefetch::before) {
            refuse("fsdp.backward_prefetch", "fully_shard prefetches before the gradients of a unit");
        }
    }

  private:
    // Data ranks that share parameters.
    std::uint32_t data_shards() const { return is_hybrid(job_.fsdp) ? job_.layout.shard_ranks : job_.layout.data; }
    void refuse(std::string_view key, std::string why) { errors_.push_back({std::string(key), std::move(why)}); }

    const Job& job_;
    std::vector<JobError>& errors_;
};

}  // namespace

void check_composition(const Job& job, std::vector<JobError>& errors) {
    Composition composition(job, errors);
    composition.tensor_and_context();
    composition.pipeline();
    composition.experts();
    composition.resharding();
    composition.version();
}

}  // namespace weft
