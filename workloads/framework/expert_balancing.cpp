#include "workloads/framework/expert_balancing.hpp"

#include <algorithm>

#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

bool is_megatron(const Job& job) { return job.framework->name == "megatron"; }
bool is_since(const Job& job, std::string_view version) { return has_since(job.megatron.version, version); }

Call sum_of_counts(RankGroups group, double counts) {
    constexpr double wide = 8.0;
    return {Collective::all_reduce, group, {counts * wide}, "all-reduce balancing loss counts", "int64"};
}

Call of_probabilities(const Job& job, Collective op, std::string_view label) {
    constexpr double wide = 4.0;
    const double own = tokens(job) / (shares_tokens(job) ? 1.0 : 1.0 / job.layout.tensor);
    return {op, {"tensor", "context"}, {own * job.layout.context * job.model.experts.count * wide}, label, "fp32"};
}

void add_loss(const Job& job, Balancing loss, LossCalls& calls) {
    const double experts = job.model.experts.count;
    const std::uint32_t ranks = job.layout.tensor * job.layout.context;
    switch (loss) {
        case Balancing::even:
        case Balancing::bias:
            break;
        case Balancing::auxiliary_loss: {
            const bool apart = !is_since(job, loss_sums_since) && job.experts.dispatcher == Dispatch::all_to_all;
            if (!is_since(job, "core-0.8") || (apart ? job.layout.context : ranks) == 1) break;
            calls.forward.push_back(
                sum_of_counts(apart ? RankGroups{"context"} : RankGroups({"tensor", "context"}), experts));
            break;
        }
        case Balancing::sequence_auxiliary_loss:
            if (ranks == 1) break;
            if (is_since(job, sequence_counts_since)) {
                calls.forward.push_back(sum_of_counts(RankGroups({"tensor", "context"}), experts * job.batch.micro));
                break;
            }
            calls.forward.push_back(
                of_probabilities(job, Collective::all_gather, "all-gather balancing probabilities"));
            calls.backward.push_back(
                of_probabilities(job, Collective::reduce_scatter, "reduce-scatter balancing probability gradients"));
            break;
        case Balancing::global_auxiliary_loss:
            if (job.layout.ranks_of_stage() == 1) break;
            calls.forward.push_back(sum_of_counts(stage_axes(), experts));
            break;
    }
}

}  // namespace

bool balances_by(const Job& job, Balancing balancing) {
    return job.experts.balancing == balancing ||
           std::ranges::find(job.experts.other_losses, balancing) != job.experts.other_losses.end();
}

std::vector<Call> expert_bias_calls(const Job& job, std::span<const StageModule> modules) {
    if (job.model.experts.count == 0 || !job.model.experts.balancing_bias) return {};
    const auto layers = static_cast<double>(std::ranges::count(modules, "router", &StageModule::name));
    const bool counted = gathers_before_routing(job);
    if (layers == 0 || (counted ? job.layout.copies() : job.layout.ranks_of_stage()) == 1) return {};
    return {{Collective::all_reduce,
             counted ? copy_axes() : stage_axes(),
             {4.0 * layers * job.model.experts.count},
             "all-reduce expert counts",
             "fp32"}};
}

LossCalls balancing_loss_calls(const Job& job) {
    LossCalls calls;
    if (job.model.experts.count == 0 || !is_megatron(job)) return calls;
    calls.once = is_since(job, "core-0.13") ? Setting::on : Setting::off;
    for (const Balancing loss :
         {Balancing::auxiliary_loss, Balancing::sequence_auxiliary_loss, Balancing::global_auxiliary_loss}) {
        if (balances_by(job, loss)) add_loss(job, loss, calls);
    }
    return calls;
}

void check_balancing(const Job& job, std::vector<JobError>& errors) {
    if (is_megatron(job)) return;
    if (!balances_by(job, Balancing::sequence_auxiliary_loss) && !balances_by(job, Balancing::global_auxiliary_loss))
        return;
    const Refusals refuse(errors);
    refuse("experts.balancing",
           "{} has a loss of each rank's own tokens alone; set it to auxiliary_loss, or framework to megatron",
           job.framework->name);
}

}  // namespace weft
