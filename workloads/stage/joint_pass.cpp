// Joint passes: the forward of one micro-batch and the backward of another, layer against layer, so that the tokens of
// one travel while the other computes. A layer is cut where its tokens leave and where they have come back:
//
//   exchanges   combine gradient | dispatch, then dispatch gradient   | combine
//   computes    attention, ...   | experts backward, then forward     | attention backward
//
// as Megatron-core 0.14 has it (core/models/common/model_chunk_schedule_plan.py, TransformerLayerSchedulePlan.run) and
// DeepSeek-V3 (arXiv 2412.19437, figure 4), which puts the weights' gradients off as in `delayed_backward`. A call
// begins once what it sends is there, in the order above with the others of its group, and is waited for where what it
// brings is needed: what then is not hidden is exposed. Of exchanges C, D, d, c and computations a, e, f, b in that
// order, equal pairs of layers expose (C - a)+ + (D - e)+ + (d - f)+ + (c - b)+ each.
//
// The element-wise passes over rows that have come back are computed with the rest; Megatron runs them on the stream of
// the exchange. Ranks agree on counts of tokens in the same group as the exchange, so that this small gather waits for
// an exchange under way.
#include <algorithm>

#include "workloads/parallelism/experts.hpp"
#include "workloads/stage/pass_writer.hpp"

namespace weft {

LayerCut cut_at_exchanges(const LayerCosts& layer) {
    LayerCut cut;
    for (const PieceCost& piece : layer.pieces) {
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
TokenExchange token_exchange(const Around& experts) {
    const auto inside = [](const Call& call) { return call.group == RankGroups{"expert_tensor"}; };
    const auto arrived = std::ranges::find_if(experts.before, inside);
    const auto leaves = std::ranges::find_if_not(experts.after, inside);
    TokenExchange exchange{
        .there = {experts.before.begin(), arrived}, .back = {leaves, experts.after.end()}, .within = experts};
    exchange.within.before.assign(arrived, experts.before.end());
    exchange.within.after.assign(experts.after.begin(), leaves);
    return exchange;
}

const LayerCut& PassWriter::cut(const At& at) {
    std::optional<LayerCut>& known = cuts_[at.place];
    if (!known) known = cut_at_exchanges(costs(at));
    return *known;
}

const TokenExchange& PassWriter::exchange(const At& at, Pass pass) {
    std::optional<TokenExchange>& known = exchanges_[at.place][pass == Pass::backward ? 1 : 0];
    if (!known) known = has_experts(at.kind) ? token_exchange(around(at, Piece::experts, pass)) : TokenExchange{};
    return *known;
}

// One after another but for those that start together, if the layer has experts.
std::vector<ActionId> PassWriter::send(const std::vector<Call>& calls, const At& at) {
    std::vector<ActionId> sent;
    if (!has_experts(at.kind)) return sent;
    ActionId ready = script_.now();
    for (const Call& call : calls) {
        if (!sent.empty() && call.start == Start::after_previous) ready = sent.back();
        sent.push_back(script_.issue(call, at.pass.where, ready));
    }
    return sent;
}

void PassWriter::forward_pieces(const At& at, const LayerCut::Pieces& pieces) {
    for (const PieceCost* piece : pieces) {
        const bool travels = piece->piece == Piece::experts;
        piece_forward(at, *piece, travels ? exchange(at, at.pass.pass).within : around(at, piece->piece, at.pass.pass));
    }
}

void PassWriter::backward_pieces(const At& at, const LayerCut::Pieces& pieces, Halves halves) {
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
        const bool travels = (*piece)->piece == Piece::experts;
        repeat_before(at, **piece);
        piece_backward(at, **piece,
                       travels ? exchange(at, Pass::backward).within : around(at, (*piece)->piece, Pass::backward),
                       halves);
    }
}

void PassWriter::weights_of(const At& at, const LayerCut::Pieces& pieces) {
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
        weights(at, **piece);
        after(at, **piece);
    }
}

void PassWriter::finish_coming(Joined& joined) {
    if (!joined.coming) return;
    wait(joined.back);
    forward_pieces(*joined.coming, cut(*joined.coming).rest);
    if (predicts(*joined.coming)) prediction_norm_forward(*joined.coming);
    joined.coming.reset();
}

// Of what comes before the experts, once the next layer's gradient of tokens travels.
void PassWriter::settle_weights(Joined& joined) {
    if (!joined.owing) return;
    weights_of(*joined.owing, cut(*joined.owing).ahead);
    joined.owing.reset();
}

std::vector<ActionId> PassWriter::behind_begins(const At& behind, Joined& joined) {
    if (predicts(behind)) prediction_norm_backward(behind, Halves::both);
    backward_pieces(behind, cut(behind).rest, Halves::both);
    std::vector<ActionId> sent = send(exchange(behind, Pass::backward).there, behind);
    settle_weights(joined);
    return sent;
}

std::vector<ActionId> PassWriter::ahead_begins(const At& ahead, Joined& joined) {
    finish_coming(joined);
    if (predicts(ahead)) prediction_forward(ahead);
    for (const PieceCost* piece : cut(ahead).ahead) {
        piece_forward(ahead, *piece, around(ahead, piece->piece, Pass::forward));
    }
    return send(exchange(ahead, Pass::forward).there, ahead);
}

std::vector<ActionId> PassWriter::behind_meets_experts(const At& behind) {
    const LayerCut& cut = this->cut(behind);
    const Halves halves = delays_weight_gradients(job_) == Setting::on ? Halves::input : Halves::both;
    backward_pieces(behind, cut.experts, halves);
    backward_pieces(behind, cut.shared, halves);
    return send(exchange(behind, Pass::backward).back, behind);
}

void PassWriter::ahead_meets_experts(const At& ahead, Joined& joined) {
    forward_pieces(ahead, cut(ahead).shared);
    forward_pieces(ahead, cut(ahead).experts);
    joined.back = send(exchange(ahead, Pass::forward).back, ahead);
    joined.coming = ahead;
}

void PassWriter::layer_pair(const std::optional<At>& ahead, const std::optional<At>& behind, Joined& joined) {
    host_.begin();
    if (ahead) host_.issue(costs(*ahead).checkpoints.forward);
    if (behind) host_.issue(costs(*behind).checkpoints.input_backward);
    std::vector<ActionId> behind_sent, ahead_sent;
    if (behind) behind_sent = behind_begins(*behind, joined);
    if (ahead) ahead_sent = ahead_begins(*ahead, joined);
    if (behind) {
        wait(behind_sent);
        behind_sent = behind_meets_experts(*behind);
    }
    // The host calls for the forward's exchange once it has launched the backward of the experts.
    if (ahead) wait_for_counts(*ahead);
    const bool delays = delays_weight_gradients(job_) == Setting::on;
    if (behind && delays) {
        weights_of(*behind, cut(*behind).experts);
        weights_of(*behind, cut(*behind).shared);
    }
    if (ahead) {
        wait(ahead_sent);
        counts_known(*ahead, Piece::experts, Known::called);
        ahead_meets_experts(*ahead, joined);
    }
    if (behind) {
        wait(behind_sent);
        backward_pieces(*behind, cut(*behind).ahead, delays ? Halves::input : Halves::both);
        if (predicts(*behind)) prediction_backward(*behind, Halves::both);
        if (delays) joined.owing = behind;
    }
    host_.end(ahead ? ahead->pass.where : behind->pass.where);
}

// The layers of a backward pass alone.
void PassWriter::delayed_backward(const At& here) {
    const Chunk& chunk = stage_.chunks[here.pass.chunk];
    Joined joined;
    for (std::uint32_t i = chunk.layers; i-- > 0;) {
        repeat_layers_before(here, i, Halves::both);
        layer_pair(std::nullopt, layer_at(here, chunk, i), joined);
    }
    host_.begin();
    settle_weights(joined);
    host_.end(here.pass.where);
}

// Layers that have no counterpart come last, the backward's first (TransformerModelChunkSchedulePlan.run).
PassWriter::JointEnds PassWriter::joint(const Slot& forward, const Slot& backward, Accumulation accumulation) {
    const At ahead = at(forward, Pass::forward);
    At behind = at(backward, Pass::backward);
    behind.pass.accumulation = accumulation;
    const Chunk &upward = stage_.chunks[forward.chunk], &downward = stage_.chunks[backward.chunk];
    const std::uint32_t both = std::min(upward.layers, downward.layers);
    const auto next_ahead = [&](std::uint32_t i) { return layer_at(ahead, upward, i); };
    const auto next_behind = [&](std::uint32_t i) {
        const std::uint32_t layer = downward.layers - 1 - i;
        repeat_layers_before(behind, layer, Halves::both);
        return layer_at(behind, downward, layer);
    };
    Joined joined;
    begin_forward(ahead);
    begin_backward(behind, Halves::both);
    for (std::uint32_t i = 0; i < both; ++i) layer_pair(next_ahead(i), next_behind(i), joined);
    for (std::uint32_t i = both; i < downward.layers; ++i) layer_pair(std::nullopt, next_behind(i), joined);
    for (std::uint32_t i = both; i < upward.layers; ++i) layer_pair(next_ahead(i), std::nullopt, joined);
    JointEnds ends{.gradient = script_.now()};
    host_.begin();
    settle_weights(joined);
    finish_coming(joined);
    host_.end(ahead.pass.where);
    ends.output = script_.now();
    end_forward(ahead);
    end_backward(behind, Halves::both);
    return ends;
}

// Layers whose shared experts run beside the exchange of tokens: their first map while tokens go, their second
// while they come back, backward the second first (Megatron-core since 0.9, core/transformer/moe/shared_experts.py:
// linear_fc1_forward_and_act and linear_fc2_forward are called while the token dispatcher's all-to-alls run, and the
// sequence numbers of their gradients keep that order).

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
