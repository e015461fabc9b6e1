#include "workloads/parallelism/experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/check.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"

namespace weft {
namespace {

double busiest_expert(const Job& job) {
    const Balancing balancing = job.experts.balancing;
    const bool biased = job.model.experts.balancing_bias && balancing != Balancing::even;
    switch (biased ? Balancing::bias : balancing) {
        case Balancing::even:
            return 0.0;
        case Balancing::auxiliary_loss:
        case Balancing::sequence_auxiliary_loss:
        case Balancing::global_auxiliary_loss:
            return 0.52;
        case Balancing::bias:
            return 0.04;
    }
    throw LogicError("a Balancing outside its enumerators");
}

double busiest_rank(const std::vector<double>& tokens, std::uint32_t ranks) {
    const std::size_t own = tokens.size() / ranks;
    if (own == 0) return 1.0;
    double busiest = 0;
    for (auto first = tokens.begin(); tokens.end() - first >= static_cast<std::ptrdiff_t>(own);) {
        const auto end = first + static_cast<std::ptrdiff_t>(own);
        busiest = std::max(busiest, std::accumulate(first, end, 0.0));
        first = end;
    }
    return busiest * ranks / std::accumulate(tokens.begin(), tokens.end(), 0.0);
}

bool exchanges_tokens(const Job& job) { return job.model.experts.count > 0 && job.layout.expert > 1; }

// What is cut at the exchange of tokens is not computed again as one.
void check_repeated(const Job& job, const Refusals& refuse) {
    const LayerParts& parts = job.recompute.parts;
    const bool any = parts.has(LayerPart::experts) || parts.has(LayerPart::shared_experts);
    refuse.when(job.recompute.granularity == Recompute::selective && any, "recompute",
                "layers that are cut at the exchange of tokens (experts.overlap) compute neither experts nor "
                "shared_experts again");
}

// transformer_config.py, __post_init__, of Megatron-core 0.14 and, for graphs, 0.18; no version of it has a
// bidirectional schedule, which is run here as DualPipe itself does.
void check_megatrons_joint_passes(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "experts.overlap";
    const MegatronVersion& version = job.megatron.version;
    refuse.when(
        !has_since(version, joint_passes_since), key,
        "Megatron {} has no joint passes (--overlap-moe-expert-parallel-comm); set megatron.version to core-0.14",
        version.name);
    refuse.when(job.recompute.granularity == Recompute::full, key,
                "Megatron-core 0.14 runs passes jointly only without full recomputation; set recompute to selective or "
                "none");
    refuse.when(job.cuda_graphs == CudaGraphs::layer, key,
                "graphs of whole layers fix an order that joint passes mix; set cuda_graphs to none");
    refuse.when(job.cuda_graphs == CudaGraphs::full && !has_since(version, joint_graphs_since), key,
                "Megatron {} records no joint passes; set cuda_graphs to none or megatron.version to {}", version.name,
                joint_graphs_since);
    refuse.when(job.precision == Precision::fp32, key,
                "Megatron-core runs passes jointly in bf16 and fp16, not in fp32");
}

void check_passes(const Job& job, const Refusals& refuse) {
    const Schedule& schedule = *job.schedule;
    const bool pipelined = job.layout.pipeline > 1;
    const bool joins = schedule.joins == Schedule::Joins::always ||
                       (schedule.joins == Schedule::Joins::without_pipeline && !pipelined);
    refuse.when(
        !joins, "experts.overlap",
        "no forward of {} runs as one with a backward on {} stages; interleaved and dualpipe have joint passes, "
        "and 1f1b on one stage",
        schedule.key, job.layout.pipeline);
    if (schedule.copies == 1) check_megatrons_joint_passes(job, refuse);
    refuse.when(job.offloaded_layers > 0, "offloaded_layers",
                "passes that run as one keep their activations on the device");
    check_repeated(job, refuse);
}

void check_shared_experts(const Job& job, const Refusals& refuse) {
    refuse.when(job.model.experts.shared == 0, "experts.overlap",
                "{} has no shared experts to run beside the exchange of tokens", job.model.name);
    refuse.when(!has_since(job.megatron.version, shared_overlap_since), "experts.overlap",
                "Megatron {} has no --moe-shared-expert-overlap; set megatron.version to core-0.9 or later",
                job.megatron.version.name);
    check_repeated(job, refuse);
}

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

// Ranks that hold all experts have all tokens that there are.
double usual_imbalance(const Job& job) {
    if (job.layout.expert == 1 || job.model.experts.count == 0 || job.experts.capacity_factor > 0) return 1.0;
    const double own = double(job.model.experts.count) / job.layout.expert;
    return 1.0 + busiest_expert(job) / std::sqrt(own);
}

void settle_imbalance(Job& job) {
    ExpertSettings& experts = job.experts;
    if (experts.imbalance_assumed == Setting::on) experts.imbalance = usual_imbalance(job);
    std::vector<double> given = experts.given_by_layer;
    for (const std::vector<double>& tokens : experts.tokens) given.push_back(busiest_rank(tokens, job.layout.expert));
    experts.by_layer.clear();
    if (given.empty()) return;
    experts.imbalance = std::accumulate(given.begin(), given.end(), 0.0) / static_cast<double>(given.size());
    auto next = given.begin();
    for (std::uint32_t layer = 0; layer < job.model.layers + job.model.mtp_layers; ++layer) {
        const bool routes = has_experts(layer_kind(job.model, layer));
        const bool known = routes && next != given.end();
        experts.by_layer.push_back(known ? *next++ : routes ? experts.imbalance : 1.0);
    }
}

void check_imbalance(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "experts.imbalance";
    const ExpertSettings& experts = job.experts;
    const Transformer& model = job.model;
    double most = experts.imbalance;
    for (const double own : experts.given_by_layer) most = std::max(most, own);
    refuse.when(experts.imbalance_assumed == Setting::off && most > model.experts.count, key,
                "the busiest of {} experts has at most {} times the mean, not {}", model.experts.count,
                model.experts.count, most);
    const std::size_t given = experts.given_by_layer.size() + experts.tokens.size();
    if (given == 0) return;
    std::size_t layers = 0, all = 0;
    for (std::uint32_t layer = 0; layer < model.layers + model.mtp_layers; ++layer) {
        if (!has_experts(layer_kind(model, layer))) continue;
        ++all;
        layers += layer < model.layers ? 1 : 0;
    }
    refuse.when(given != layers && given != all, key,
                "expected one for each of the {} layers with experts of {}, got {}", layers, model.name, given);
    const auto odd = std::ranges::find_if(
        experts.tokens, [&](const std::vector<double>& tokens) { return tokens.size() != model.experts.count; });
    if (odd == experts.tokens.end()) return;
    refuse(key, "expected the tokens of {} experts in each layer, got {}", model.experts.count, odd->size());
}

std::string imbalance_assumption(const Job& job) {
    if (job.experts.imbalance_assumed == Setting::off || job.experts.imbalance == 1.0) return {};
    return fmt::format(
        "imbalance of expert ranks {:.3g} (assumption: 1 + {:g} / sqrt(experts of a rank), the busiest expert as "
        "measured in arXiv 2408.15664)",
        job.experts.imbalance, busiest_expert(job));
}

ExpertOverlap expert_overlap(const Job& job) {
    if (job.experts.overlap) return *job.experts.overlap;
    const bool sends = exchanges_tokens(job) && job.experts.dispatcher != Dispatch::all_gather;
    return job.schedule->copies > 1 && sends ? ExpertOverlap::passes : ExpertOverlap::none;
}

Setting delays_weight_gradients(const Job& job) {
    if (expert_overlap(job) != ExpertOverlap::passes) return Setting::off;
    return job.experts.delay_weight_gradients.value_or(job.schedule->copies > 1 ? Setting::on : Setting::off);
}

void check_expert_overlap(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "experts.overlap";
    const ExpertOverlap overlap = expert_overlap(job);
    refuse.when(job.experts.delay_weight_gradients == Setting::on && overlap != ExpertOverlap::passes,
                "experts.delay_weight_gradients",
                "weights' gradients are put off inside joint passes; set experts.overlap to passes");
    if (overlap == ExpertOverlap::none) return;
    if (!exchanges_tokens(job)) {
        return refuse(key, "no rank sends tokens to another one's experts; layout.expert is 1, or the model has none");
    }
    if (job.framework->name != "megatron") {
        return refuse(key, "{} runs nothing beside the exchange of tokens; megatron does", job.framework->name);
    }
    if (job.experts.dispatcher == Dispatch::all_gather) {
        return refuse(key, "nothing runs beside tokens that all ranks gather; set experts.dispatcher");
    }
    overlap == ExpertOverlap::passes ? check_passes(job, refuse) : check_shared_experts(job, refuse);
}

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

void check_balancing(const Job& job, const Refusals& refuse) {
    if (is_megatron(job)) return;
    if (!balances_by(job, Balancing::sequence_auxiliary_loss) && !balances_by(job, Balancing::global_auxiliary_loss))
        return;
    refuse("experts.balancing",
           "{} has a loss of each rank's own tokens alone; set it to auxiliary_loss, or framework to megatron",
           job.framework->name);
}

}  // namespace weft
