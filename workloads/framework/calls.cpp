#include "workloads/framework/calls.hpp"

#include "workloads/job.hpp"

namespace weft {

Bytes hidden_state(const Job& job) {
    return {double(job.batch.micro) * job.batch.sequence * job.model.hidden * element_bytes(job.precision)};
}

std::vector<Call> reduce_hidden(const Job& job, std::string_view label) {
    if (job.layout.tensor == 1) return {};
    return {{Collective::all_reduce, GroupKind::tensor, hidden_state(job), label}};
}

std::vector<Call> embedding_reduction(const Job& job) { return reduce_hidden(job, "all-reduce embedding"); }
std::vector<Call> head_gradient_reduction(const Job& job) { return reduce_hidden(job, "all-reduce head gradient"); }

std::vector<Call> loss_reductions(const Job& job) {
    if (job.layout.tensor == 1) return {};
    const Bytes per_token{4.0 * job.batch.micro * job.batch.sequence};
    return {{Collective::all_reduce, GroupKind::tensor, per_token, "all-reduce loss maximum"},
            {Collective::all_reduce, GroupKind::tensor, per_token, "all-reduce target logit"},
            {Collective::all_reduce, GroupKind::tensor, per_token, "all-reduce loss sum"}};
}

std::vector<Call> tied_embedding_reduction(const Job& job) {
    if (!job.copies_embedding()) return {};
    const Bytes message{double(job.embedding_matrix()) * job.framework->gradient_bytes(job)};
    return {{Collective::all_reduce, GroupKind::embedding, message, "all-reduce tied embedding"}};
}

Call boundary_call(Bytes message, std::string_view label) {
    return {Collective::point_to_point, GroupKind::boundary, message, label};
}

double accumulated_gradient_bytes(const Job& job) {
    return job.precision == Precision::bf16 ? 4.0 : element_bytes(job.precision);
}

}  // namespace weft
