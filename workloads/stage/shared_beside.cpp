// Layers whose shared experts run beside the exchange of tokens: their first map beside the way there, their second
// beside the way back, backward the other way round (Megatron-core since 0.9, core/transformer/moe/shared_experts.py:
// linear_fc1_forward_and_act and linear_fc2_forward are called while the token dispatcher's all-to-alls run, and the
// sequence numbers of their gradients keep that order).
#include "workloads/parallelism/expert_overlap.hpp"
#include "workloads/stage/pass_writer.hpp"

namespace weft {

bool PassWriter::shares_beside(LayerKind kind) const {
    return has_experts(kind) && expert_overlap(job_) == ExpertOverlap::shared_experts;
}

void PassWriter::shared_beside_forward(const At& at) {
    const LayerCut& cut = this->cut(at);
    const TokenExchange& exchange = this->exchange(at, Pass::forward);
    forward_pieces(at, cut.ahead);
    wait_for_counts(at);
    std::vector<ActionId> sent = send(exchange.there, at);
    forward_pieces(at, {cut.shared.front()});
    wait(sent);
    counts_known(at, Piece::experts, Known::called);
    forward_pieces(at, cut.experts);
    sent = send(exchange.back, at);
    forward_pieces(at, {cut.shared.back()});
    wait(sent);
    forward_pieces(at, cut.rest);
}

void PassWriter::shared_beside_backward(const At& at, Halves halves) {
    const LayerCut& cut = this->cut(at);
    const TokenExchange& exchange = this->exchange(at, Pass::backward);
    backward_pieces(at, cut.rest, halves);
    std::vector<ActionId> sent = send(exchange.there, at);
    backward_pieces(at, {cut.shared.back()}, halves);
    wait(sent);
    backward_pieces(at, cut.experts, halves);
    sent = send(exchange.back, at);
    backward_pieces(at, {cut.shared.front()}, halves);
    wait(sent);
    backward_pieces(at, cut.ahead, halves);
}

}  // namespace weft
