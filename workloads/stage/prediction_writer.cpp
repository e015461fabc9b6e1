// Modules of multi-token prediction in the passes of their model part: what stands before and after their layer.
#include "models/transformer/prediction.hpp"

#include "workloads/framework/framework.hpp"
#include "workloads/stage/pass_writer.hpp"

namespace weft {
namespace {

// Embedding and hidden state side by side.
Call of_both(Call call) {
    call.message = call.message * 2;
    return call;
}

// The map is cut by its outputs, and its output gathered whole; under sequence parallelism its input is gathered before
// and each rank goes on with its own tokens (Megatron-core, multi_token_prediction.py _concat_embeddings).
std::vector<Call> before_map(const Job& job) {
    if (job.layout.tensor == 1 || !shares_tokens(job)) return {};
    return {of_both(gather_hidden(job, "all-gather prediction input"))};
}
std::vector<Call> after_map(const Job& job) {
    if (job.layout.tensor == 1) return {};
    return {gather_hidden(job, "all-gather prediction")};
}
std::vector<Call> before_map_gradient(const Job& job) {
    if (job.layout.tensor == 1 || !shares_tokens(job)) return {};
    return {gather_hidden(job, "all-gather prediction gradient"),
            of_both(gather_hidden(job, "all-gather prediction input"))};
}
std::vector<Call> after_map_gradient(const Job& job) {
    if (job.layout.tensor == 1) return {};
    if (!shares_tokens(job)) return {of_both(reduce_hidden(job, "all-reduce prediction gradient"))};
    return {of_both(scatter_hidden(job, "reduce-scatter prediction gradient"))};
}

}  // namespace

// Every module embeds; the copy's gradient is complete after the one whose backward is last, the first. A tied copy is
// the head's.
bool PassWriter::closes_embedding_copy(const At& at) const {
    const bool has_copy = stage_.chunks[at.pass.chunk].embedding_copy > 0 && !job_.model.tied_embeddings;
    return has_copy && at.pass.where.layer == job_.model.layers;
}

bool PassWriter::predicts(const At& at) const { return is_prediction(job_.model, at.pass.where.layer); }

void PassWriter::prediction_forward(const At& at) {
    const std::size_t copy = stage_.chunks[at.pass.chunk].embedding_copy;
    const bool closes = closes_embedding_copy(at);
    if (closes) before(at, copy);
    compute(at, "forward embedding", plan_.costs.embedding_forward);
    if (closes) after(at, copy);
    calls(around(at, Piece::embedding, Pass::forward).after, at);
    before(at, at.module - 2);
    before(at, at.module - 1);
    calls(before_map(job_), at);
    compute(at, "forward prediction input", plan_.costs.prediction_forward);
    after(at, at.module - 1);
    after(at, at.module - 2);
    calls(after_map(job_), at);
}

void PassWriter::prediction_backward(const At& at, Halves halves) {
    const PartCosts& costs = plan_.costs;
    if (halves != Halves::weight) {
        before(at, at.module - 1);
        calls(before_map_gradient(job_), at);
        compute(at, "backward prediction input", costs.prediction_input_backward);
        calls(after_map_gradient(job_), at);
        before(at, at.module - 2);
        calls(around(at, Piece::embedding, Pass::backward).before, at);
    }
    if (halves == Halves::input) return;
    compute(at, "backward prediction weights", costs.prediction_weight_backward);
    after(at, at.module - 1);
    after(at, at.module - 2);
    const std::size_t copy = stage_.chunks[at.pass.chunk].embedding_copy;
    const bool closes = closes_embedding_copy(at);
    if (closes) before(at, copy);
    compute(at, "backward embedding", costs.embedding_backward);
    if (closes) after(at, copy);
}

std::size_t PassWriter::prediction_norm(const At& at) const {
    std::size_t module = at.module;
    while (stage_.modules[module].name != "prediction output norm") ++module;
    return module;
}

void PassWriter::prediction_norm_forward(const At& at) {
    before(at, prediction_norm(at));
    compute(at, "forward prediction norm", plan_.costs.final_norm_forward);
    after(at, prediction_norm(at));
}

void PassWriter::prediction_norm_backward(const At& at, Halves halves) {
    if (halves != Halves::weight) {
        before(at, prediction_norm(at));
        compute(at, "backward prediction norm", plan_.costs.final_norm_backward);
    }
    if (halves != Halves::input) after(at, prediction_norm(at));
}

}  // namespace weft
