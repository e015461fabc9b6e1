#include "workloads/stage/layer_cut.hpp"

#include <algorithm>

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

}  // namespace weft
