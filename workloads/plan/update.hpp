// What the optimizer takes. Muon's extra work: the momentum of each matrix of a layer is made orthogonal by five steps
// of Newton and Schulz (Jordan et al. 2024), for m rows and n columns, m <= n:
//   A = X X^T      2 m m n FLOPs
//   B = b A + c A A    2 m m m
//   X = a X + B X  2 m m n
// in fp32 with products at the rate of bf16 (emerging_optimizers, newton_schulz; fp32_matmul_prec "medium").
#pragma once

#include "sim/base/quantity.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

// Passes over gradients and parameters, on the device or the host; no less than the host takes for a kernel per tensor.
Seconds update_time(const Plan& plan, const Stage& stage);
// Of it, without what the host takes to launch them.
Seconds passes_of_update(const Plan& plan, const Stage& stage);

// Parameters of this rank's stage that Muon updates: those of layers' matrices.
double orthogonal_parameters(const Stage& stage);

// Each tensor rank does its own share of a matrix (Megatron-core's muon_tp_mode "blockwise"), queries, keys and values
// of plain attention as matrices of their own; data ranks that share optimizer states do as much of it each
// (layer_wise_optimizer.py deals matrices by size; assumed even).
Seconds orthogonalisation(const Plan& plan, const Stage& stage);
Flops orthogonalisation_flops(const Job& job, const Stage& stage);

}  // namespace weft
