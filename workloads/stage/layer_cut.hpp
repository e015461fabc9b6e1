// A layer cut where its tokens leave for their experts and where they have come back; a dense one around its MLP.
#pragma once

#include <vector>

#include "workloads/parallelism/scheme.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

// Pieces in forward order. What calls experts have inside, and the shared ones, belong to `experts`.
struct LayerCut {
    using Pieces = std::vector<const PieceCost*>;

    Pieces ahead;    // attention, norms, router, permutation
    Pieces shared;   // up, down: depend on what is ahead, and only the rest on them
    Pieces experts;  // or the dense MLP
    Pieces rest;     // sums of rows, residual
};

// The layer must outlive the result.
LayerCut cut_at_exchanges(const LayerCosts& layer);

// The calls around experts: tokens or their gradients go there, and back; what else there is stays around the piece.
struct TokenExchange {
    std::vector<Call> there, back;
    Around within;
};
TokenExchange token_exchange(const Around& experts);

}  // namespace weft
