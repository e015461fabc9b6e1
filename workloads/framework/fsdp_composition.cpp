#include "workloads/framework/fsdp_composition.hpp"

#include <fmt/format.h>

#include <string>

#include "workloads/data_parallel/fsdp_policy.hpp"
#include "workloads/job.hpp"

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
        if (job_.layout.tensor > 1) {
            refuse("layout.tensor",
                   "experts whose tokens tensor ranks gather before they route them are not "
                   "simulated; mixture of experts under fsdp needs tensor 1");
        }
        if (job_.layout.expert > 1 && (is_hybrid(job_.fsdp) || job_.fsdp.reshard == Reshard::over_few)) {
            refuse("layout.expert",
                   "experts that are sharded in groups are not simulated; expert parallelism under "
                   "fsdp needs full_shard or shard_grad_op");
        }
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
