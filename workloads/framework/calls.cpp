#include "workloads/framework/calls.hpp"

#include "models/transformer/recipes.hpp"
#include "sim/base/enumerators.hpp"
#include "workloads/job/job.hpp"

namespace weft {
double tokens(const Job& job) { return double(job.batch.micro) * job.batch.sequence / job.shard().context; }
bool shares_tokens(const Job& job) { return job.sequence_parallel == SequenceParallel::on && job.layout.tensor > 1; }
bool gathers_before_routing(const Job& job) {
    return shares_tokens(job) && job.model.experts.count > 0 && job.framework->routing == TokenRouting::by_all;
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
    const double width = double(key_width(job.model) + value_width(job.model)) / job.shard().tensor;
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

}  // namespace weft
