#include "workloads/framework/framework.hpp"

#include "models/transformer/recipes.hpp"
#include "sim/base/enumerators.hpp"
#include "workloads/framework/refusals.hpp"
#include "workloads/job/job.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {

PassingStates states_stay(const Job& job) {
    return {.parameters = element_bytes(job.precision),
            .gradients = job.framework->gradient_bytes(job) + job.framework->shares(job).passing_bytes,
            .in_place = false,
            .anew = false};
}

void check_data_only(const Job& job, const Refusals& refuse) {
    const std::string_view name = job.framework->name;
    for (const Scheme* scheme : parallelism::all()) {
        const std::uint32_t size = job.layout.size(scheme->axis);
        if (size == 1 || scheme->ranks == Scheme::Ranks::rest) continue;
        refuse(fmt::format("layout.{}", scheme->axis), "{} is data parallelism only; {} must be 1, got {}", name,
               scheme->axis, size);
    }
    refuse.when(job.sequence_parallel == SequenceParallel::on, "sequence_parallel",
                "{} is data parallelism only and has no sequence parallelism", name);
    refuse.when(job.context_method != ContextMethod::ring, "context_method",
                "{} is data parallelism only and shares no sequence", name);
    refuse.when(job.gradient_overlap == Setting::off, "overlap_gradients",
                "{} always reduces gradients under the backward pass", name);
}

const Framework* find_framework(std::string_view name) {
    return first_of(framework::all(), [&](const Framework* each) { return each->name == name; });
}

std::vector<std::string> framework_names() {
    return list_of<std::string>(framework::all(), [&](const Framework* f) { return f->name; });
}

double tokens(const Job& job) { return double(job.batch.micro) * job.batch.sequence / job.shard().context; }
bool shares_tokens(const Job& job) { return job.sequence_parallel == SequenceParallel::on && job.layout.tensor > 1; }
bool shares_checkpoints(const Job& job) {
    return job.layout.tensor > 1 && (job.deepspeed.partition_activations == Setting::on ||
                                     job.megatron.distribute_saved_activations == Setting::on);
}
bool gathers_before_routing(const Job& job) {
    return shares_tokens(job) && job.model.experts.count > 0 && job.framework->routing == TokenRouting::by_all;
}

// A teacher's beside it, both ways (NVIDIA/Model-Optimizer, modelopt/torch/distill/plugins/megatron.py).
Bytes state_between_stages(const Job& job) {
    const double taught = job.model.teacher.empty() ? 0.0 : job.model.teacher.front().hidden;
    return hidden_state(job) * (1.0 + taught / job.model.hidden);
}

Bytes hidden_state(const Job& job) { return {tokens(job) * job.model.hidden * element_bytes(job.precision)}; }

std::string_view element_name(const Job& job) {
    return enumerator_name(is_narrow(job.precision) ? Precision::bf16 : job.precision);
}

Call reduce_hidden(const Job& job, std::string_view label) {
    return {Collective::all_reduce, {"tensor"}, hidden_state(job), label, element_name(job)};
}
Call scatter_hidden(const Job& job, std::string_view label) {
    return {Collective::reduce_scatter, {"tensor"}, hidden_state(job), label, element_name(job)};
}
Call gather_hidden(const Job& job, std::string_view label) {
    return {Collective::all_gather, {"tensor"}, hidden_state(job), label, element_name(job)};
}

void gather_operand(const Job& job, std::string_view label, OperandForms forms, std::vector<Call>& calls) {
    if (!is_narrow(job.precision)) return calls.push_back(gather_hidden(job, label));
    const Recipe recipe = recipe_of(job.recipe);
    const bool both = forms == OperandForms::all && recipe.second == SecondForm::cast;
    const bool agrees = recipe.shares_maximum && forms != OperandForms::saved;
    if (agrees) calls.push_back({Collective::all_reduce, {"tensor"}, {4.0}, "all-reduce maximum", "fp32"});
    calls.push_back({Collective::all_gather,
                     {"tensor"},
                     hidden_state(job) / element_bytes(job.precision) * (recipe.bytes * (both ? 2.0 : 1.0)),
                     label,
                     "uint8"});
}

std::vector<Call> reductions_of_maxima(const Job& job, std::size_t products, Pass pass) {
    const bool delayed = job.precision == Precision::fp8 && job.recipe == Casting::delayed;
    const bool counts = delayed && job.names_recipe == Setting::on && job.layout.ranks_of_stage() > 1;
    if (!counts || products == 0) return {};
    constexpr double fp32_bytes = 4.0;
    const double tensors = pass == Pass::backward ? 2.0 : 3.0;
    return {{Collective::all_reduce,
             stage_axes(),
             {static_cast<double>(products) * tensors * fp32_bytes},
             "all-reduce maxima",
             "fp32"}};
}

std::vector<Call> loss_reductions(const Job& job) {
    if (job.layout.tensor == 1) return {};
    const Bytes per_token{4.0 * tokens(job)};
    return {{Collective::all_reduce, {"tensor"}, per_token, "all-reduce loss maximum", "fp32"},
            {Collective::all_reduce, {"tensor"}, per_token, "all-reduce target logit", "fp32"},
            {Collective::all_reduce, {"tensor"}, per_token, "all-reduce loss sum", "fp32"}};
}

Bytes own_keys_and_values(const Job& job) {
    const double tensor = job.shard().tensor;
    const double width = double(key_width(job.model) + value_width(job.model)) * key_copies(job.model, tensor) / tensor;
    return {tokens(job) * width * element_bytes(job.precision)};
}

Bytes own_queries(const Job& job) {
    return {tokens(job) * double(query_width(job.model)) / job.shard().tensor * element_bytes(job.precision)};
}

Call boundary_call(Bytes message, std::string_view label, std::string_view type) {
    return {Collective::point_to_point, RankGroups::boundary(), message, label, type};
}

double accumulated_gradient_bytes(const Job& job) {
    return job.precision == Precision::bf16 || is_narrow(job.precision) ? 4.0 : element_bytes(job.precision);
}

// Gradient read; parameter or master copy, momentum and variance read and written.
static double update(const Job& job, double gradient) {
    const OptimizerSettings& own = job.optimizer;
    const double variance = own.rule == UpdateRule::muon ? 0 : bytes_of(own.variance);
    return gradient + 2 * (bytes_of(own.master) + bytes_of(own.momentum) + variance);
}

// Bytes per parameter (r read, w write), after Megatron-LM's megatron/optimizer/optimizer.py and apex's multi_tensor
// kernels; g is the accumulated gradient's size:
//   zero the gradients            w g           of all that the rank holds
//   copy to fp32                  r g w 4       unless they are fp32
//   unscale, look for infinities  r 4 w 4       fp16 only: bf16 has no loss scale
//   norm                          r 4
//   clip                          r 4 w 4
//   Adam                          r 16 w 12     gradient, parameter, momentum, variance
//   copy to half precision        r 4 w 2
// Muon has no variance. A precision-aware optimizer takes gradients as they are, master copy, momentum and variance in
// their own formats, and writes the working copy itself; remainders are completed by it.
UpdateTraffic mixed_precision_update(const Job& job) {
    constexpr double norm = 4, clip = 8, unscale = 8;
    const double gradient = job.framework->gradient_bytes(job), element = element_bytes(job.precision);
    if (is_precision_aware(job.optimizer)) {
        const double completed = job.optimizer.master == StateFormat::remainders ? element : 0;
        return {.held = gradient, .updated = 3 * gradient + update(job, gradient) + completed + element};
    }
    UpdateTraffic traffic{.held = gradient, .updated = norm + clip + update(job, 4)};
    if (gradient < 4) traffic.updated += gradient + 4;
    if (job.precision == Precision::fp16) traffic.updated += unscale;
    if (element < 4) traffic.updated += 4 + element;
    return traffic;
}

// PyTorch's own: gradients are dropped, not zeroed (zero_grad, set_to_none=True).
UpdateTraffic fused_update(const Job& job) {
    constexpr double norm = 4, clip = 8;
    return {.held = 0, .updated = norm + clip + update(job, 4)};
}

static Bytes separate_accumulation(const Job& job) {
    return {element_bytes(job.precision) + 2.0 * job.framework->gradient_bytes(job)};
}

Bytes repeated_accumulation(const Job& job) {
    const bool kept = job.micro_batches() == 1 && job.framework->gradient_bytes(job) == element_bytes(job.precision);
    return kept ? Bytes{} : separate_accumulation(job);
}

Bytes megatron_accumulation(const Job& job) {
    const Fusion fusion = job.megatron.fused_accumulation;
    const bool in_fp32 = job.framework->gradient_bytes(job) == 4;
    return fusion == Fusion::all || (fusion == Fusion::single && in_fp32) ? Bytes{} : separate_accumulation(job);
}

// Megatron-core, experts.py: TEGroupedMLP, unless all of it is one operation of Transformer Engine
// (use_transformer_engine_op_fuser), as graphs of the whole pass have it in Megatron-Bridge's recipes.
bool runs_expert_passes_apart(const Job& job) {
    return job.framework->modules(job) == Modules::transformer_engine && job.cuda_graphs != CudaGraphs::full;
}

// What it fuses, it does in MXFP8 (ops/fused/grouped_mlp.py), of rows that HybridEP brings.
bool fuses_experts(const Job& job) {
    return job.framework->modules(job) == Modules::transformer_engine && job.cuda_graphs == CudaGraphs::full &&
           job.precision == Precision::fp8 && job.recipe == Casting::mxfp8 &&
           job.experts.dispatcher == Dispatch::hybridep;
}

// Products in 8 or 4 bits take multiples of 16 to 128 rows. Megatron-core copies every expert's to places of such a
// size and back (experts.py, TEGroupedMLP: Fp8Padding and Fp8Unpadding) where neither its router nor HybridEP's kernels
// see to it (token_dispatcher.py, pad_multiple).
bool pads_rows_of_experts(const Job& job) {
    return is_narrow(job.precision) && job.framework->modules(job) == Modules::transformer_engine &&
           job.experts.dispatcher != Dispatch::hybridep && job.experts.padded_routing == Setting::off;
}

}  // namespace weft
