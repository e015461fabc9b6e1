// Layers, whole or cut at the exchange of tokens.
//
// A step runs the same pass for many micro-batches, and a pass the same layer many times. What a writer writes depends
// on the part of the model, the pass, its halves, on data parallelism, and on what it finds where it begins: so what
// data parallelism is idle in is written once and repeated wherever it would find the same.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/stage/piece_writer.hpp"

namespace weft {

// A layer cut where its tokens leave for their experts and where they have come back; a dense one around its MLP.
// Pieces in forward order. What calls experts have inside, and the shared ones, belong to `experts`.
struct LayerCut {
    using Pieces = std::vector<const PieceCost*>;

    Pieces ahead;    // attention, norms, router, permutation
    Pieces shared;   // up, down: depend on what is ahead, and only the rest on them
    Pieces experts;  // or the dense MLP
    Pieces rest;     // sums of rows, residual
};

// The calls around experts: tokens or their gradients go there, and back; what else there is stays around the piece.
struct TokenExchange {
    std::vector<Call> there, back;
    Around within;
};

// Whether the host waits for losses and gradients to be looked at: a condition on a tensor, of the loss in
// pretrain_gpt.py (loss_func), of a bucket's gradients before their reduction in
// core/distributed/param_and_grad_buffer.py (check_grads).
inline bool checks_for_nan(const Job& job) {
    return job.framework->name == "megatron" && job.megatron.check_for_nan == Setting::on;
}

class LayerWriter : protected PieceWriter {
  protected:
    LayerWriter(const Plan& plan, std::uint32_t stage, DataParallel& data_parallel, Script& script)
        : PieceWriter(plan, stage, data_parallel, script),
          exchanges_(job_.layer_places()),
          cuts_(job_.layer_places()),
          written_(stage_.chunks.size() + 2 * job_.layer_places()) {}

    // Of layers that are cut at the exchange of tokens.
    const LayerCut& cut(const At& at) {
        std::optional<LayerCut>& known = cuts_[at.place];
        if (known) return *known;
        LayerCut& cut = known.emplace();
        for (const PieceCost& piece : costs(at).pieces) {
            switch (piece.piece) {
                case Piece::shared_up:
                case Piece::shared_down:
                    cut.shared.push_back(&piece);
                    break;
                case Piece::experts:
                case Piece::mlp_up:
                case Piece::mlp_down:
                    cut.experts.push_back(&piece);
                    break;
                default:
                    (cut.experts.empty() ? cut.ahead : cut.rest).push_back(&piece);
            }
        }
        return cut;
    }
    // The ranks of one expert exchange among themselves what has come, and before it goes.
    static TokenExchange token_exchange(const Around& experts) {
        const auto inside = [](const Call& call) { return call.group == RankGroups{"expert_tensor"}; };
        const auto arrived = std::ranges::find_if(experts.before, inside);
        const auto leaves = std::ranges::find_if_not(experts.after, inside);
        TokenExchange exchange{
            .there = {experts.before.begin(), arrived}, .back = {leaves, experts.after.end()}, .within = experts};
        exchange.within.before.assign(arrived, experts.before.end());
        exchange.within.after.assign(experts.after.begin(), leaves);
        return exchange;
    }
    const TokenExchange& exchange(const At& at, Pass pass) {
        std::optional<TokenExchange>& known = exchanges_[at.place][pass == Pass::backward ? 1 : 0];
        if (!known) known = has_experts(at.kind) ? token_exchange(around(at, Piece::experts, pass)) : TokenExchange{};
        return *known;
    }

    // One after another but for those that start together, if the layer has experts.
    std::vector<ActionId> send(const std::vector<Call>& calls, const At& at) {
        std::vector<ActionId> sent;
        if (!has_experts(at.kind)) return sent;
        ActionId ready = script_.now();
        for (const Call& call : calls) {
            if (!sent.empty() && call.start == Start::after_previous) ready = sent.back();
            sent.push_back(script_.issue(call, at.pass.where, ready));
        }
        return sent;
    }
    void forward_pieces(const At& at, const LayerCut::Pieces& pieces) {
        for (const PieceCost* piece : pieces) {
            const bool travels = piece->piece == Piece::experts;
            piece_forward(at, *piece,
                          travels ? exchange(at, at.pass.pass).within : around(at, piece->piece, at.pass.pass));
        }
    }
    void backward_pieces(const At& at, const LayerCut::Pieces& pieces, Halves halves) {
        for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
            const bool travels = (*piece)->piece == Piece::experts;
            repeat_before(at, **piece);
            piece_backward(at, **piece,
                           travels ? exchange(at, Pass::backward).within : around(at, (*piece)->piece, Pass::backward),
                           halves);
        }
    }
    void weights_of(const At& at, const LayerCut::Pieces& pieces) {
        for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
            weights(at, **piece);
            after(at, **piece);
        }
    }

    // Layers whose shared experts run beside the exchange of tokens: their first map while tokens go, their second
    // while they come back, backward the second first (Megatron-core since 0.9, core/transformer/moe/shared_experts.py:
    // linear_fc1_forward_and_act and linear_fc2_forward are called while the token dispatcher's all-to-alls run, and
    // the sequence numbers of their gradients keep that order).
    bool shares_beside(LayerKind kind) const {
        return has_experts(kind) && expert_overlap(job_) == ExpertOverlap::shared_experts;
    }

    void shared_beside_forward(const At& at) {
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
    void shared_beside_backward(const At& at, Halves halves) {
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

    // Whether a call of the kind was issued since action `first`.
    bool issues(std::size_t first, RankGroups kind) const {
        return std::any_of(script_.actions().begin() + static_cast<std::ptrdiff_t>(first), script_.actions().end(),
                           [&](const Action& action) {
                               return action.kind == Action::Kind::issue &&
                                      script_.calls()[action.subject].group == kind;
                           });
    }

    // Their pieces one after another.
    void layer_forward(const At& at) {
        const LayerCosts& costs = this->costs(at);
        if (job_.deepspeed.synchronize_each_layer == Setting::on) host_.synchronise();
        host_.begin();
        host_.issue(costs.checkpoints.forward);
        if (shares_beside(at.kind)) {
            shared_beside_forward(at);
        } else {
            const bool again = at.pass.pass == Pass::recompute;
            for (const PieceCost& piece :
                 std::span(costs.pieces).first(again ? costs.checkpointed : costs.pieces.size()))
                piece_forward(at, piece, around(at, piece.piece, at.pass.pass));
        }
        host_.end(at.pass.where);
    }
    void layer_backward(const At& at, Halves halves) {
        const LayerCosts& costs = this->costs(at);
        if (job_.deepspeed.synchronize_each_layer == Setting::on) host_.synchronise();
        const std::size_t first = script_.actions().size();
        host_.begin();
        host_.issue(costs.checkpoints.input_backward);
        if (shares_beside(at.kind)) {
            shared_beside_backward(at, halves);
        } else {
            for (auto piece = costs.pieces.rbegin(); piece != costs.pieces.rend(); ++piece) {
                repeat_before(at, *piece);
                piece_backward(at, *piece, around(at, piece->piece, Pass::backward), halves);
            }
        }
        host_.end(at.pass.where);
        if (checks_for_nan(job_) && issues(first, copy_axes())) host_.synchronise();
    }

    // The weights' gradients alone, in the order of backward.
    void layer_weights(const At& at) {
        const LayerCosts& costs = this->costs(at);
        host_.begin();
        for (auto piece = costs.pieces.rbegin(); piece != costs.pieces.rend(); ++piece) {
            weights(at, *piece);
            after(at, *piece);
        }
        host_.end(at.pass.where);
    }
    void layer(const At& at, Halves halves) {
        if (costs(at).forward_alone && at.pass.pass != Pass::forward) return;
        write_once(at.pass, halves, layers_part(at), [&] {
            if (at.pass.pass != Pass::backward) return layer_forward(at);
            halves == Halves::weight ? layer_weights(at) : layer_backward(at, halves);
        });
    }

    // What reads the same for all micro-batches, and for several layers, is written once and then
    // repeated.
    enum class HostReady : std::uint8_t { before, at_chain };  // what the first launch waits for
    struct Beginning {
        PassAt at;
        Halves halves{};
        std::size_t part = 0;  // a chunk, or one of its layers by kind: index into written_
        HostReady host{};
        Joint joint;
    };
    struct Written {
        Beginning begin;
        Excerpt excerpt;
        Open open;  // at its end
    };
    // Layers of a place that run again read otherwise where a router's calls wait for that.
    std::size_t layers_part(const At& at) const {
        const bool apart = !balancing_.forward.empty() && routes_again(at);
        return stage_.chunks.size() + at.place + (apart ? job_.layer_places() : 0);
    }

    template <class Write>
    void write_once(const PassAt& at, Halves halves, std::size_t part, Write write) {
        const std::optional<Beginning> begin = beginning(at, halves, part);
        if (begin && repeat(*begin)) return;
        write();
        if (begin) remember(*begin);
    }
    // Nothing where a pass or layer may read as no other does: data parallelism takes part, its first computation may
    // extend the one before it (which is of the same layer then), or its first launch waits for something older than
    // the end of the chain.
    std::optional<Beginning> beginning(const PassAt& at, Halves halves, std::size_t part) const {
        const bool is_layer = part >= stage_.chunks.size();
        const bool extends = is_open() && open_.where.micro_batch == at.where.micro_batch &&
                             (!is_layer || open_.where.layer == at.where.layer);
        if (extends || !data_parallel_.idle(at)) return std::nullopt;
        const Joint joint = script_.joint();
        const ActionId ready = host_.ready();
        if (ready != Action::none && ready != joint.chain) return std::nullopt;
        return Beginning{.at = at,
                         .halves = halves,
                         .part = part,
                         .host = ready == Action::none ? HostReady::before : HostReady::at_chain,
                         .joint = joint};
    }
    bool repeat(const Beginning& begin) {
        const std::vector<Written>& parts = written_[begin.part];
        const auto written = std::ranges::find_if(parts, [&begin](const Written& part) {
            return part.begin.at.pass == begin.at.pass && part.begin.halves == begin.halves &&
                   part.begin.host == begin.host && part.begin.joint.like(begin.joint);
        });
        if (written == parts.end()) return false;
        script_.repeat(written->excerpt, begin.at.where);
        host_.repeat();
        open_ = written->open;
        if (open_.action != Action::none) {
            open_.actions = script_.actions().size();
            open_.action = static_cast<ActionId>(open_.actions - 1);
            open_.where.micro_batch = begin.at.where.micro_batch;
            open_.where.layer += begin.at.where.layer - written->begin.at.where.layer;
        }
        return true;
    }
    // But for what has no launches, after which what the host waited for still matters.
    void remember(const Beginning& begin) {
        if (host_.ready() != Action::none) return;
        std::optional<Excerpt> excerpt = script_.since(begin.joint, begin.at.where.layer);
        if (excerpt) written_[begin.part].push_back({begin, *std::move(excerpt), is_open() ? open_ : Open{}});
    }

    std::vector<ByPass<TokenExchange>> exchanges_;
    std::vector<std::optional<LayerCut>> cuts_;
    std::vector<std::vector<Written>> written_;  // of each chunk, and of its layers by place
};

}  // namespace weft
