// The layer of a PassWriter: pieces in order, with the calls of tensor, sequence, context and expert parallelism.
// Sources: Shoeybi et al. 1909.08053 (tensor), Korthikanti et al. 2205.05198 (sequence), Megatron-core 0.8
// core/tensor_parallel, core/transformer/moe; TransformerEngine's attention (context ring); DeepSpeed-Ulysses
// 2309.14509.
#include <algorithm>

#include "workloads/framework/calls.hpp"
#include "workloads/step/pass_writer.hpp"

namespace weft {

void PassWriter::layer_forward(const At& at) {
    host_.begin(plan_.costs.layer(at.kind).launches.forward);
    attention_forward(at);
    if (at.kind == LayerKind::expert) {
        experts_forward(at);
    } else {
        mlp_forward(at);
    }
    host_.end(at.pass.where);
}

void PassWriter::attention_forward(const At& at) {
    piece_forward(at, Piece::input_norm);
    gathered_forward(at, Piece::qkv);
    core_forward(at);
    if (job_.model.parallel_residual) return piece_forward(at, Piece::projection);
    reduced_forward(at, Piece::projection);
}

void PassWriter::mlp_forward(const At& at) {
    piece_forward(at, Piece::post_norm);
    gathered_forward(at, Piece::mlp_up);
    reduced_forward(at, Piece::mlp_down);
    piece_forward(at, Piece::residual);
}

// Tokens to the ranks of their experts, through them, and back. Where an expert itself is cut, its tensor ranks gather
// one another's tokens (sequence parallelism) or sum their outputs.
void PassWriter::exchange_experts(const At& at, std::string_view label) {
    if (job_.layout.expert > 1) call(exchange_tokens(job_, label), at);
}

void PassWriter::experts_forward(const At& at) {
    const bool cut = job_.layout.expert_tensor > 1;
    const Bytes gathered = expert_tokens(job_) * (sequence_parallel_ ? job_.layout.expert_tensor : 1);
    piece_forward(at, Piece::post_norm);
    piece_forward(at, Piece::router);
    calls(job_.framework->expert_counts(job_), at);
    piece_forward(at, Piece::permute);
    exchange_experts(at, "all-to-all dispatch");
    Call among{.op = Collective::all_gather,
               .group = GroupKind::expert_tensor,
               .message = gathered,
               .label = "all-gather expert tokens",
               .type = element_name(job_)};
    if (cut && sequence_parallel_) call(among, at);
    piece_forward(at, Piece::experts);
    among.op = sequence_parallel_ ? Collective::reduce_scatter : Collective::all_reduce;
    among.label = sequence_parallel_ ? "reduce-scatter expert tokens" : "all-reduce expert tokens";
    if (cut) call(among, at);
    exchange_experts(at, "all-to-all combine");
    piece_forward(at, Piece::unpermute);
    if (has(at, Piece::shared_up)) {
        gathered_forward(at, Piece::shared_up);
        reduced_forward(at, Piece::shared_down);
    }
    piece_forward(at, Piece::residual);
}

// One step of the ring per context rank: each computes on one share of the keys and values while the next one comes.
// messages[i] travels under step i.
void PassWriter::ring(const At& at, Seconds core, std::span<const Bytes> messages) {
    const std::uint32_t steps = job_.layout.context;
    for (std::uint32_t i = 0; i < steps; ++i) {
        const bool sends = messages[i].value > 0;
        const ActionId passed =
            sends ? script_.issue(pass_round(job_, messages[i], "pass keys and values"), at.pass.where, script_.now())
                  : Action::none;
        compute(at, attention, core / steps);
        if (sends) script_.wait(passed);
    }
}

void PassWriter::core_forward(const At& at) {
    const std::uint32_t ranks = job_.layout.context;
    const Seconds core = cost(at, Piece::core).forward;
    if (ranks == 1) return compute(at, attention, core);
    switch (job_.context_method) {
        case ContextMethod::ring: {
            std::vector<Bytes> messages(ranks, own_keys_and_values(job_));
            messages.back() = {};  // the last share has come
            return ring(at, core, messages);
        }
        case ContextMethod::all_gather:
            call(whole_sequence(job_, Collective::all_gather, "all-gather keys"), at);
            call(whole_sequence(job_, Collective::all_gather, "all-gather values"), at);
            return compute(at, attention, core);
        case ContextMethod::all_to_all: {
            const Bytes queries = own_queries(job_), keys = own_keys_and_values(job_) / 2;
            call(exchange_heads(job_, queries, "all-to-all queries"), at);
            call(exchange_heads(job_, keys, "all-to-all keys"), at);
            call(exchange_heads(job_, keys, "all-to-all values"), at);
            compute(at, attention, core);
            return call(exchange_heads(job_, queries, "all-to-all output"), at);
        }
    }
}

// Backward goes round once more: keys and values ahead of their use, their gradients behind it.
void PassWriter::core_backward(const At& at) {
    const std::uint32_t ranks = job_.layout.context;
    const Seconds core = cost(at, Piece::core).input_backward;
    if (ranks == 1) return compute(at, attention, core);
    switch (job_.context_method) {
        case ContextMethod::ring: {
            const Bytes pair = own_keys_and_values(job_);
            std::vector<Bytes> messages(ranks, pair * 2);
            messages.front() = messages.back() = pair;
            return ring(at, core, messages);
        }
        case ContextMethod::all_gather:
            call(whole_sequence(job_, Collective::all_gather, "all-gather keys"), at);
            call(whole_sequence(job_, Collective::all_gather, "all-gather values"), at);
            compute(at, attention, core);
            call(whole_sequence(job_, Collective::reduce_scatter, "reduce-scatter key gradients"), at);
            call(whole_sequence(job_, Collective::reduce_scatter, "reduce-scatter value gradients"), at);
            return;
        case ContextMethod::all_to_all: {
            const Bytes queries = own_queries(job_), keys = own_keys_and_values(job_) / 2;
            call(exchange_heads(job_, queries, "all-to-all output gradient"), at);
            compute(at, attention, core);
            call(exchange_heads(job_, queries, "all-to-all query gradients"), at);
            call(exchange_heads(job_, keys, "all-to-all key gradients"), at);
            return call(exchange_heads(job_, keys, "all-to-all value gradients"), at);
        }
    }
}

void PassWriter::finish_column(const At& at, const Column& column, Halves halves) {
    const auto weights = [&] {
        if (halves != Halves::both) return;
        if (column.part != 0) return compute(at, static_cast<Parts>(column.part), column.weight);
        compute(at, column.label, column.weight);
    };
    if (job_.layout.tensor == 1) return weights();
    const Call reduction = sequence_parallel_ ? scatter_hidden(job_, "reduce-scatter input gradient")
                                              : reduce_hidden(job_, column.reduction);
    if (job_.framework->input_reduction(job_) == InputReduction::after_backward) {
        weights();
        return call(reduction, at);
    }
    const ActionId reduced = script_.issue(reduction, at.pass.where, script_.now());
    if (halves == Halves::both) {
        compute(at, column.part != 0 ? "backward weight gradient" : column.label, column.weight);
    }
    script_.wait(reduced);
}

// Under sequence parallelism the map's input was kept in shares; it is gathered for the weights' gradient while the
// input's gradient is computed.
void PassWriter::column_backward(const At& at, Piece piece, Halves halves) {
    const PieceCost& own = cost(at, piece);
    const std::size_t module = module_of(at, own);
    before(at, module);
    const ActionId gathered =
        sequence_parallel_ ? script_.issue(gather_operand(job_, "all-gather saved input"), at.pass.where, script_.now())
                           : Action::none;
    compute(at, part_of(piece), own.input_backward);
    if (gathered != Action::none) script_.wait(gathered);
    finish_column(at, {.weight = own.weight_backward, .part = part_of(piece), .reduction = "all-reduce layer"}, halves);
    if (halves == Halves::both) after(at, module);
}

void PassWriter::layer_backward(const At& at, Halves halves) {
    if (job_.recompute == Recompute::full) {
        At again = at;
        again.pass.pass = Pass::recompute;
        calls(job_.framework->checkpoint_gather(job_), again);
        layer_forward(again);
    }
    const Launches& launches = plan_.costs.layer(at.kind).launches;
    host_.begin(launches.input_backward + (halves == Halves::both ? launches.weight_backward : 0));
    if (at.kind == LayerKind::expert) {
        experts_backward(at, halves);
    } else {
        mlp_backward(at, halves);
    }
    attention_backward(at, halves);
    host_.end(at.pass.where);
}

void PassWriter::mlp_backward(const At& at, Halves halves) {
    piece_backward(at, Piece::residual, halves);
    gathered_backward(at, Piece::mlp_down, halves);
    column_backward(at, Piece::mlp_up, halves);
    piece_backward(at, Piece::post_norm, halves);
}

void PassWriter::attention_backward(const At& at, Halves halves) {
    gathered_backward(at, Piece::projection, halves);
    if (job_.recompute == Recompute::selective) compute(at, "recompute core", cost(at, Piece::core).forward);
    core_backward(at);
    column_backward(at, Piece::qkv, halves);
    piece_backward(at, Piece::input_norm, halves);
}

void PassWriter::experts_backward(const At& at, Halves halves) {
    const bool cut = job_.layout.expert_tensor > 1;
    piece_backward(at, Piece::residual, halves);
    if (has(at, Piece::shared_up)) {
        gathered_backward(at, Piece::shared_down, halves);
        column_backward(at, Piece::shared_up, halves);
    }
    piece_backward(at, Piece::unpermute, halves);
    exchange_experts(at, "all-to-all combine gradient");
    Call among{.op = sequence_parallel_ ? Collective::all_gather : Collective::all_reduce,
               .group = GroupKind::expert_tensor,
               .message = expert_tokens(job_) * (sequence_parallel_ ? job_.layout.expert_tensor : 1),
               .label = sequence_parallel_ ? "all-gather expert gradients" : "all-reduce expert gradients",
               .type = element_name(job_)};
    if (cut && sequence_parallel_) call(among, at);
    piece_backward(at, Piece::experts, halves);
    if (sequence_parallel_) {
        among.op = Collective::reduce_scatter;
        among.label = "reduce-scatter expert gradients";
    }
    if (cut) call(among, at);
    exchange_experts(at, "all-to-all dispatch gradient");
    piece_backward(at, Piece::permute, halves);
    piece_backward(at, Piece::router, halves);
    piece_backward(at, Piece::post_norm, halves);
}

// The weights' gradients alone, in the order of backward.
void PassWriter::layer_weights(const At& at) {
    host_.begin(plan_.costs.layer(at.kind).launches.weight_backward);
    const std::vector<PieceCost>& pieces = plan_.costs.layer(at.kind).pieces;
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
        piece_backward(at, piece->piece, Halves::weight);
    }
    host_.end(at.pass.where);
}

}  // namespace weft
