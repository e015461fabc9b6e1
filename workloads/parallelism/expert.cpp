// Expert parallelism: the ranks of a group hold different experts of each layer and exchange tokens by all-to-all
// (GShard, Lepikhin et al. 2006.16668). The group is cut out of the ranks of a stage. Megatron-core 0.8,
// core/transformer/moe.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "workloads/framework/calls.hpp"
#include "workloads/layout/groups_of_ranks.hpp"
#include "workloads/parallelism/expert_overlap.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft::parallelism {
namespace {

void check(const Job& job, const MachineInfo&, std::vector<JobError>& errors) {
    const Layout& layout = job.layout;
    const auto refuse = [&](std::string why) { errors.push_back({"layout.expert", std::move(why)}); };
    check_expert_overlap(job, errors);
    if (job.model.experts.count == 0) {
        if (layout.expert > 1) {
            refuse(fmt::format("{} has no experts to share by {} ranks", job.model.name, layout.expert));
        }
        if (layout.expert_tensor > 1) {
            errors.push_back({"layout.expert_tensor", fmt::format("{} has no experts to cut", job.model.name)});
        }
        if (job.experts.imbalance != 1 || job.experts.capacity_factor != 0) {
            errors.push_back({"experts", fmt::format("{} has no experts to send tokens to", job.model.name)});
        }
        return;
    }
    if (job.experts.imbalance != 1 && job.experts.capacity_factor > 0) {
        errors.push_back({"experts.imbalance",
                          "with a capacity_factor every expert is sent as many slots as any other; give one of them"});
    }
    if (layout.expert_tensor > 1 && !tensor_is_innermost(layout)) {
        errors.push_back(
            {"layout.order", fmt::format("the {} ranks of an expert are neighbours in the tensor group; experts need "
                                         "tensor innermost",
                                         layout.expert_tensor)});
    }
    for (const std::string& obstacle : expert_obstacles(job.model, job.split())) refuse(obstacle);
    const std::string obstacle = expert_layout_obstacle(layout);
    if (!obstacle.empty()) refuse(obstacle);
    if (layout.expert_tensor != 1 && layout.expert_tensor != layout.tensor) {
        errors.push_back({"layout.expert_tensor",
                          fmt::format("expected 1 or tensor ({}), got {}", layout.tensor, layout.expert_tensor)});
    }
}

void shard(const Job& job, Shard& shard) {
    shard.expert *= job.layout.expert;
    shard.expert_tensor *= job.layout.expert_tensor;
}

// What one rank sends per micro-batch, with the busiest rank's share. Under sequence parallelism a rank routes its own
// tokens; otherwise the tensor ranks route all of them alike. With a capacity every expert is sent that many slots,
// filled or not (DeepSpeed moe/sharded_moe.py: at least 4).
Bytes expert_tokens(const Job& job) {
    const double routed = tokens(job) / (shares_tokens(job) ? job.layout.tensor : 1);
    const Experts& experts = job.model.experts;
    double sent = std::round(routed * experts.top_k * job.experts.imbalance);  // whole tokens
    if (job.experts.capacity_factor > 0) {
        const double slots = std::ceil(routed / experts.count * job.experts.capacity_factor * experts.top_k);
        sent = experts.count * std::max(4.0, slots);
    }
    return {sent * job.model.hidden * element_bytes(job.precision)};
}

// Tokens on their way to the ranks of their experts, or back.
void exchange(const Job& job, std::vector<Call>& calls, std::string_view label) {
    if (job.layout.expert == 1) return;
    calls.push_back({.op = Collective::all_to_all,
                     .group = GroupKind::expert,
                     .message = expert_tokens(job),
                     .label = label,
                     .type = element_name(job),
                     .through = job.framework->exchanges});
}

// Where an expert itself is cut, its tensor ranks gather one another's tokens (sequence parallelism) and deal their
// sums out, or sum their outputs.
struct Among {
    std::string_view gathered, scattered, reduced;  // labels
};
void among_ranks_of_expert(const Job& job, const Among& labels, Around& around) {
    const std::uint32_t ranks = job.layout.expert_tensor;
    if (ranks == 1) return;
    const bool shared = shares_tokens(job);
    const auto call = [&](Collective op, std::string_view label) {
        return Call{.op = op,
                    .group = GroupKind::expert_tensor,
                    .message = expert_tokens(job) * (shared ? ranks : 1),
                    .label = label,
                    .type = element_name(job)};
    };
    if (shared) around.before.push_back(call(Collective::all_gather, labels.gathered));
    around.after.push_back(shared ? call(Collective::reduce_scatter, labels.scattered)
                                  : call(Collective::all_reduce, labels.reduced));
}

void around_experts(const Job& job, Pass pass, Around& around) {
    if (pass == Pass::forward) {
        exchange(job, around.before, "all-to-all dispatch");
        among_ranks_of_expert(
            job, {"all-gather expert tokens", "reduce-scatter expert tokens", "all-reduce expert tokens"}, around);
        return exchange(job, around.after, "all-to-all combine");
    }
    exchange(job, around.before, "all-to-all combine gradient");
    among_ranks_of_expert(
        job, {"all-gather expert gradients", "reduce-scatter expert gradients", "all-reduce expert gradients"}, around);
    exchange(job, around.after, "all-to-all dispatch gradient");
}

void around(const Job& job, Piece piece, Pass pass, Around& around) {
    if (piece == Piece::experts) return around_experts(job, pass, around);
    if (piece != Piece::permute || pass != Pass::forward) return;
    for (const Call& call : job.framework->expert_counts(job)) around.before.push_back(call);
}

}  // namespace

extern const Scheme expert;
const Scheme expert{.axis = "expert",
                    .ranks = Scheme::Ranks::shared,
                    .size = &Layout::expert,
                    .check = check,
                    .shard = shard,
                    .around = around};

}  // namespace weft::parallelism
