#include "workloads/parallelism/experts.hpp"

#include <algorithm>
#include <cmath>

#include "models/transformer/kernel_parts.hpp"
#include "workloads/framework/framework.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/layout/layout.hpp"

namespace weft {
namespace {

// Static texts of one direction.
struct Labels {
    std::string_view exchange;          // all-to-all
    std::string_view in_nodes, across;  // of a dispatcher with two levels
    std::string_view of_expert;         // what tensor ranks of an expert gather, or deal out
    std::string_view summed;            // or sum, where each has all tokens
};
struct BothLabels {
    Labels out, back;
};
constexpr BothLabels forward_labels{
    {"all-to-all dispatch", "dispatch in nodes", "dispatch across nodes", "all-gather expert tokens", {}},
    {"all-to-all combine", "combine in nodes", "combine across nodes", "reduce-scatter expert tokens",
     "all-reduce expert tokens"}};
constexpr BothLabels backward_labels{
    {"all-to-all combine gradient",
     "combine gradient in nodes",
     "combine gradient across nodes",
     "all-gather expert gradients",
     {}},
    {"all-to-all dispatch gradient", "dispatch gradient in nodes", "dispatch gradient across nodes",
     "reduce-scatter expert gradients", "all-reduce expert gradients"}};

// Of which one rank sends copies per micro-batch. Under sequence parallelism a rank routes its own tokens; otherwise
// the tensor ranks all route all of them, and where all then have what they could share, each sends its part of them
// to whole experts, or all of them to its part of each.
double routed_tokens(const Job& job) {
    if (gathers_before_routing(job)) return tokens(job) * job.layout.expert_tensor / job.layout.tensor;
    return tokens(job) / (shares_tokens(job) ? job.layout.tensor : 1);
}

// A copy for each expert, the busiest rank's share. With a capacity every expert is sent that many slots, filled or not
// (DeepSpeed moe/sharded_moe.py: at least 4).
Bytes copies_for_experts(const Job& job) {
    const double routed = routed_tokens(job);
    const Experts& experts = job.model.experts;
    double sent = std::round(routed * experts.top_k * job.experts.imbalance);  // whole tokens
    if (job.experts.capacity_factor > 0) {
        const double slots = std::ceil(routed / experts.count * job.experts.capacity_factor * experts.top_k);
        sent = experts.count * std::max(4.0, slots);
    }
    return {sent * expert_hidden(job.model) * element_bytes(job.precision)};
}

Call over(const Job& job, Collective op, RankGroups group, Bytes message, std::string_view label) {
    return {op, group, message, label, element_name(job)};
}

// With copies go their probabilities in fp32, as the router makes them (--moe-router-dtype): experts' activation
// functions weigh by them (token_dispatcher.py of core 0.13, token_dispatch(); before, what comes back is weighed).
struct Probabilities {
    std::string_view exchange, of_expert;
};
constexpr Probabilities forward_probabilities{"all-to-all probabilities", "all-gather expert probabilities"};
constexpr Probabilities backward_probabilities{"all-to-all probability gradients",
                                               "reduce-scatter expert probability gradients"};

bool sends_probabilities(const Job& job) {
    return job.framework->name == "megatron" && has_since(job.megatron.version, probabilities_since);
}

Call probabilities(const Job& job, Collective op, RankGroups group, double ranks, std::string_view label) {
    constexpr double wide = 4.0;
    const Bytes own = copies_for_experts(job) / (expert_hidden(job.model) * element_bytes(job.precision)) * wide;
    Call call{op, group, own * ranks, label, "fp32"};
    if (op == Collective::all_to_all) call.through = job.framework->exchanges;
    return call;
}

// Their calls of one pass beside those of the rows: out forward, their gradients back backward.
void add_probabilities(const Job& job, Pass pass, Around& around) {
    if (!sends_probabilities(job)) return;
    const bool backward = pass == Pass::backward;
    const Probabilities& labels = backward ? backward_probabilities : forward_probabilities;
    std::vector<Call>& calls = backward ? around.after : around.before;
    const auto after_rows = [&](RankGroups group) {
        const auto rows = std::ranges::find(calls, group, &Call::group);
        return rows == calls.end() ? calls.end() : rows + 1;
    };
    if (job.layout.expert > 1) {
        calls.insert(after_rows(RankGroups{"expert"}),
                     probabilities(job, Collective::all_to_all, RankGroups{"expert"}, 1.0, labels.exchange));
    }
    if (job.layout.expert_tensor > 1 && shares_tokens(job)) {
        const Collective op = backward ? Collective::reduce_scatter : Collective::all_gather;
        calls.insert(after_rows(RankGroups{"expert_tensor"}),
                     probabilities(job, op, RankGroups{"expert_tensor"}, job.layout.expert_tensor, labels.of_expert));
    }
}

// Where an expert itself is cut, its tensor ranks gather one another's tokens (sequence parallelism) and deal their
// sums out, or sum their outputs.
void add_ranks_of_expert(const Job& job, const BothLabels& labels, Around& around) {
    const std::uint32_t ranks = job.layout.expert_tensor;
    if (ranks == 1 || gathers_before_routing(job)) return;
    const bool shared = shares_tokens(job);
    const Bytes whole = copies_for_experts(job) * (shared ? ranks : 1);
    const RankGroups group = RankGroups{"expert_tensor"};
    if (shared) around.before.push_back(over(job, Collective::all_gather, group, whole, labels.out.of_expert));
    around.after.push_back(shared ? over(job, Collective::reduce_scatter, group, whole, labels.back.of_expert)
                                  : over(job, Collective::all_reduce, group, whole, labels.back.summed));
}

// Where tensor ranks gather tokens before they route them, each has the gradient that its part of an expert gives of
// all copies (torchtitan distributed/expert_parallel.py, TensorParallel and ExpertTensorParallel: grad_placements
// Partial); what the parts put out is summed later, with that of the shared experts.
void add_sums_of_copies(const Job& job, Around& around) {
    if (job.layout.expert_tensor == 1 || !gathers_before_routing(job)) return;
    const Bytes copies{routed_tokens(job) * job.model.experts.top_k * expert_hidden(job.model) *
                       element_bytes(job.precision)};
    around.after.push_back(
        over(job, Collective::all_reduce, RankGroups{"expert_tensor"}, copies, "all-reduce copies' gradients"));
}

void add_all_to_all(const Job& job, Pass pass, const BothLabels& labels, Around& around) {
    const auto exchange = [&](std::string_view label) {
        Call call = over(job, Collective::all_to_all, RankGroups{"expert"}, copies_for_experts(job), label);
        call.through = job.framework->exchanges;
        return call;
    };
    if (job.layout.expert > 1) around.before.push_back(exchange(labels.out.exchange));
    add_ranks_of_expert(job, labels, around);
    if (job.layout.expert > 1) around.after.push_back(exchange(labels.back.exchange));
    if (pass == Pass::backward) add_sums_of_copies(job, around);
}

// Tokens, with the probabilities of all experts, which the router makes in fp32 (--moe-router-dtype), and a mask of
// one byte each. Sums travel in the type of the probabilities.
void add_all_gather(const Job& job, Pass pass, Around& around) {
    constexpr double wide = 4.0, mask = 1.0;
    const double ranks = double(job.layout.expert) * job.layout.expert_tensor;
    if (ranks == 1) return;
    const double all = routed_tokens(job) * ranks, hidden = expert_hidden(job.model), experts = job.model.experts.count;
    const auto call = [&](Collective op, double bytes, std::string_view label, std::string_view type) {
        return Call{op, {"expert_tensor", "expert"}, {bytes}, label, type};
    };
    const double narrow = element_bytes(job.precision);
    if (pass == Pass::backward) {
        around.before.push_back(
            call(Collective::all_gather, all * hidden * wide, "all-gather combined gradients", "fp32"));
        around.after.push_back(call(Collective::reduce_scatter, all * hidden * narrow, "reduce-scatter token gradients",
                                    element_name(job)));
        around.after.push_back(
            call(Collective::reduce_scatter, all * experts * wide, "reduce-scatter probability gradients", "fp32"));
        return;
    }
    around.before.push_back(call(Collective::all_gather, all * experts * mask, "all-gather routing map", "uint8"));
    around.before.push_back(call(Collective::all_gather, all * experts * wide, "all-gather probabilities", "fp32"));
    around.before.push_back(
        call(Collective::all_gather, all * hidden * narrow, "all-gather tokens", element_name(job)));
    around.after.push_back(call(Collective::reduce_scatter, all * hidden * wide, "reduce-scatter outputs", "fp32"));
}

// Of a row on its way to experts: in 8 bits with a scale in fp32 for every 128 elements (DeepSeek-V3, 2412.19437,
// section 3.3.1).
double dispatched_row(const Job& job) {
    constexpr double eighth = 1.0 + 4.0 / 128.0;
    return expert_hidden(job.model) *
           (job.experts.eighth_dispatch == Setting::on ? eighth : element_bytes(job.precision));
}

void add_two_levels(const Job& job, double row, const Labels& labels, std::string_view type, std::vector<Call>& calls) {
    const Experts& experts = job.model.experts;
    const std::uint32_t ranks = job.layout.expert, inner = job.layout.expert_inner, nodes = ranks / inner;
    const double rows = routed_tokens(job) * job.experts.imbalance;
    const auto level = [&](RankGroups group, std::uint32_t units, std::string_view label) {
        calls.push_back(
            {Collective::all_to_all, group, {std::round(rows * expected_units(experts, units)) * row}, label, type});
    };
    if (nodes > 1) level(RankGroups::outer({"expert"}), nodes, labels.across);
    if (inner > 1) level(RankGroups::inner({"expert"}), ranks, labels.in_nodes);
    if (nodes > 1 && inner > 1) calls.back().start = Start::with_previous;
}

void add_fused(const Job& job, const BothLabels& labels, Around& around) {
    if (job.layout.expert == 1) return;
    const bool eighth = job.experts.eighth_dispatch == Setting::on;
    const double whole_row = expert_hidden(job.model) * element_bytes(job.precision);
    add_two_levels(job, dispatched_row(job), labels.out, eighth ? "uint8" : element_name(job), around.before);
    add_two_levels(job, whole_row, labels.back, element_name(job), around.after);
}

// DeepEP's low-latency kernels are for decoding (deep_ep/buffers/legacy.py: a few tokens of each rank into buffers for
// the most there can be, no layout for backward); Megatron-core 0.12 to 0.19 (transformer/moe/fused_a2a.py) and
// torchtitan train with the others. Units that any of them takes from computation are in the device's interference, as
// those of collectives are: DeepEP's 20 of an H100's 132 (Megatron's --moe-deepep-num-sms) alone would be a factor
// of 1.18.
bool is_fused(Dispatch dispatcher) { return dispatcher == Dispatch::deepep || dispatcher == Dispatch::hybridep; }
std::string_view name_of(Dispatch dispatcher) {
    return dispatcher == Dispatch::deepep ? "deepep" : dispatcher == Dispatch::hybridep ? "hybridep" : "all_gather";
}

void check_version(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "experts.dispatcher";
    const Dispatch dispatcher = job.experts.dispatcher;
    const std::string_view first = dispatcher == Dispatch::deepep ? deepep_since : "core-0.15";
    if (job.framework->name != "megatron") {
        return refuse(key, "{} is a dispatcher of Megatron-core; {} exchanges tokens all-to-all", name_of(dispatcher),
                      job.framework->name);
    }
    refuse.when(is_fused(dispatcher) && !has_since(job.megatron.version, first), key,
                "Megatron {} has no {}; set megatron.version to {} or later", job.megatron.version.name,
                name_of(dispatcher), first);
}

void check_two_levels(const Job& job, const Refusals& refuse) {
    constexpr std::string_view key = "experts.dispatcher";
    const Layout& layout = job.layout;
    const std::string_view name = name_of(job.experts.dispatcher);
    refuse.when(layout.expert_tensor > 1, key,
                "{} with experts cut by {} ranks is not modelled; set layout.expert_tensor to 1", name,
                layout.expert_tensor);
    refuse.when(job.experts.capacity_factor > 0, key, "{} with a capacity_factor is not modelled; leave it out", name);
    const bool cuts = job.model.experts.count % layout.expert != 0;  // said elsewhere
    if (cuts || layout.expert == 1 || !expert_layout_obstacle(layout).empty()) return;
    std::string obstacle = units_obstacle(job.model.experts, layout.expert);
    if (obstacle.empty()) obstacle = units_obstacle(job.model.experts, layout.expert / layout.expert_inner);
    refuse.when(!obstacle.empty(), key, "{}: {}", name, obstacle);
}

}  // namespace

// All groups in turn, as a group may lie across a node's end where others do not.
std::uint32_t expert_inner(const Job& job) {
    const Layout& layout = job.layout;
    if (layout.expert == 1 || !is_fused(job.experts.dispatcher) || !expert_layout_obstacle(layout).empty()) return 1;
    const PlacedGroups groups({"expert"}, layout);
    const auto node = [&](RankId rank) { return static_cast<std::uint32_t>(rank) / job.ranks_per_node; };
    std::uint32_t inner = 0;
    for (std::uint32_t rank = 0; rank < layout.ranks(); ++rank) {
        const std::vector<RankId> members = groups.members(RankId{rank});
        if (static_cast<std::uint32_t>(members.front()) != rank) continue;
        std::uint32_t run = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            ++run;
            if (i + 1 < members.size() && node(members[i + 1]) == node(members[i])) continue;
            if (inner == 0) inner = run;
            if (run != inner) return 1;
            run = 0;
        }
    }
    Layout cut = layout;  // whose expert groups are those of a node
    cut.expert = inner;
    return expert_layout_obstacle(cut).empty() ? inner : 1;
}

CountsWanted counts_wanted(const Job& job) {
    const bool engine = job.framework->modules(job) == Modules::transformer_engine;
    if (job.experts.capacity_factor > 0 || (job.layout.expert == 1 && !engine)) return CountsWanted::never;
    if (job.framework->name == "deepspeed") return CountsWanted::to_permute;
    if (job.framework->name != "megatron") return CountsWanted::to_send_in_order;
    if (job.experts.dispatcher == Dispatch::all_gather) return CountsWanted::to_compute;
    if (job.experts.dispatcher == Dispatch::deepep && job.experts.fused_indices == Setting::off)
        return CountsWanted::to_send_and_index;
    if (is_fused(job.experts.dispatcher)) return CountsWanted::to_send;
    if (!has_since(job.megatron.version, late_counts_since)) return CountsWanted::to_permute;
    const bool replayed = job.cuda_graphs == CudaGraphs::router || job.cuda_graphs == CudaGraphs::around_experts;
    return replayed || !has_since(job.megatron.version, counts_alone_since) ? CountsWanted::to_send_in_order
                                                                            : CountsWanted::to_send;
}

void add_dispatch(const Job& job, Pass pass, Around& around) {
    const BothLabels& labels = pass == Pass::backward ? backward_labels : forward_labels;
    switch (job.experts.dispatcher) {
        case Dispatch::all_to_all:
            add_all_to_all(job, pass, labels, around);
            return add_probabilities(job, pass, around);
        case Dispatch::all_gather:
            return add_all_gather(job, pass, around);
        case Dispatch::deepep:
        case Dispatch::hybridep:
            return add_fused(job, labels, around);
    }
}

void check_dispatcher(const Job& job, const Refusals& refuse) {
    const ExpertSettings& own = job.experts;
    if (own.dispatcher != Dispatch::all_to_all) check_version(job, refuse);
    if (is_fused(own.dispatcher)) check_two_levels(job, refuse);
    refuse.when(own.dispatcher == Dispatch::all_gather && own.capacity_factor > 0, "experts.dispatcher",
                "all_gather pads no expert to a capacity; use all_to_all, or leave capacity_factor out");
    refuse.when(own.fused_indices == Setting::on && own.dispatcher != Dispatch::deepep, "experts.fused_indices",
                "only deepep brings rows whose experts are yet to be found");
    const bool eighth = own.eighth_dispatch == Setting::on;
    refuse.when(eighth && !is_fused(own.dispatcher), "experts.fp8_dispatch",
                "tokens travel in 8 bits under deepep and hybridep only");
    refuse.when(eighth && job.precision != Precision::fp8, "experts.fp8_dispatch",
                "tokens travel in 8 bits where experts take them so; set precision fp8");
}

}  // namespace weft
