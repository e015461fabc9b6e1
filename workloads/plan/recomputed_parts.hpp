// Selective recomputation in the layers of a job: which parts it can mean there, and what backward repeats for them.
#pragma once

#include <vector>

#include "workloads/plan/plan.hpp"

namespace weft {

// Of the parts that a job recomputes, those that a kind of layer has. A norm that Transformer Engine computes within
// the map after it (LayerNormLinear) is recomputed with its MLP and never alone.
LayerParts recomputed_parts(const Job& job, LayerKind kind);

// Appends what no layer of the model, or no version of the framework, can recompute.
void check_recompute(const Job& job, std::vector<JobError>& errors);

// Of a layer's kernels, those that make what recomputation of `piece` discards.
std::vector<Kernel> discarded_kernels(const LayerPiece& piece);

// In the order of backward. Checkpoint and norm before an MLP are repeated when the gradient of its output has come;
// the other parts as the hooks of CheckpointWithoutOutput have it, on the gradient of what is made of their output.
std::vector<PieceRepeat> piece_repeats(LayerParts parts, const std::vector<PieceCost>& pieces);

// How many pieces, from the first on, a checkpoint of the layer runs again. PyTorch's stops once backward has all that
// it asks for (PyTorch), the last of which is the input of the map that leaves the MLP.
std::size_t checkpointed_pieces(const Job& job, LayerKind kind, const std::vector<LayerPiece>& pieces);

}  // namespace weft
