// Expert parallelism: the ranks of a group hold different experts of each layer and exchange tokens
// (GShard, Lepikhin et al. 2006.16668). The group is cut out of the ranks of a stage. Megatron-core 0.8,
// core/transformer/moe.
#include "workloads/framework/refusals.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/parallelism/experts.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {
namespace {

void check_expert(const Job& job, const MachineInfo&, const Refusals& refuse) {
    const Layout& layout = job.layout;
    check_expert_overlap(job, refuse);
    if (job.model.experts.count == 0) {
        refuse.when(layout.expert > 1, "layout.expert", "{} has no experts to share by {} ranks", job.model.name,
                    layout.expert);
        refuse.when(layout.expert_tensor > 1, "layout.expert_tensor", "{} has no experts to cut", job.model.name);
        refuse.when(job.experts != ExpertSettings{}, "experts", "{} has no experts to send tokens to", job.model.name);
        return;
    }
    refuse.when(job.experts.imbalance != 1 && job.experts.capacity_factor > 0, "experts.imbalance",
                "with a capacity_factor every expert is sent as many slots as any other; give one of them");
    refuse.when(layout.expert_tensor > 1 && !tensor_is_innermost(layout), "layout.order",
                "the {} ranks of an expert are neighbours in the tensor group; experts need tensor innermost",
                layout.expert_tensor);
    for (const std::string& obstacle : expert_obstacles(job.model, job.split()))
        refuse("layout.expert", "{}", obstacle);
    const std::string obstacle = expert_layout_obstacle(layout);
    refuse.when(!obstacle.empty(), "layout.expert", "{}", obstacle);
    check_dispatcher(job, refuse);
    check_balancing(job, refuse);
    check_imbalance(job, refuse);
    refuse.when(layout.expert_tensor != 1 && layout.expert_tensor != layout.tensor, "layout.expert_tensor",
                "expected 1 or tensor ({}), got {}", layout.tensor, layout.expert_tensor);
}

void shard(const Job& job, Shard& shard) {
    shard.expert *= job.layout.expert;
    shard.expert_tensor *= job.layout.expert_tensor;
}

// Adapters that are the same on every expert rank: A and B of each, as soon as they have their gradient, pass by pass
// (Megatron-Bridge 067f987d, peft/utils.py, _register_shared_expert_grad_sync_hooks).
void sum_adapters(const Job& job, Around& around) {
    const double adapters = adapters_beside(job.model, job.trained, "experts");
    if (adapters == 0 || job.layout.expert == 1) return;
    const Bytes each{adapter_elements(job.model, job.trained, "experts") * element_bytes(job.precision)};
    const Call sum{
        Collective::all_reduce, {"expert"}, each / (2.0 * adapters), "all-reduce expert adapters", element_name(job)};
    around.after.insert(around.after.end(), static_cast<std::size_t>(2.0 * adapters), sum);
}

void around(const Job& job, Piece piece, Pass pass, Around& around) {
    if (piece == Piece::experts) {
        add_dispatch(job, pass, around);
        if (pass == Pass::backward) sum_adapters(job, around);
        return;
    }
    if (piece != Piece::permute || pass != Pass::forward) return;
    for (const Call& call : job.framework->expert_counts(job)) around.before.push_back(call);
}

}  // namespace

extern const Scheme expert{.axis = "expert",
                           .ranks = Scheme::Ranks::shared,
                           .size = &Layout::expert,
                           .check = check_expert,
                           .shard = shard,
                           .around = around};

}  // namespace weft::parallelism
