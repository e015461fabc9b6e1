// What validation rows measure, by the name of their column (without "measured."), in SI units:
//
//   step_s tokens_per_s peak_bytes           of the step
//   model_tflops megatron_tflops neox_tflops TFLOP/s per GPU by a convention (workloads/report/flop_convention.hpp)
//   layer_forward_s layer_backward_s         of one transformer layer (LayerTime)
//   communication.<dimension>_s              in transfer, mean over ranks: communication.tensor_s,
//   communication.<dimension>.<op>_s         communication.data.all_gather_s; blanks of the names are '_'
//   call.<dimension>[.<op>]_s                the same of one call, on average
//   collective_s                             one collective on its own; the row's keys are those of
//                                            tools/validate/row_job.hpp
//   and any metric of `weft simulate --json`: step.compute_s, memory.peak_bytes, ...
#pragma once

#include <string>
#include <string_view>

#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

// How long one transformer layer takes inside a step, as layer benchmarks measure it.
struct LayerTime {
    Seconds forward, backward;  // full recomputation belongs to backward
};

// Of the first micro-batch in the second layer of the first stage (its only layer, if there is one): from the begin of
// the pass's first operation to the end of its last, calls of tensor, context and expert parallelism included; neither
// embedding and head nor the reduction of gradients. Throws RangeError if the pass did not happen.
LayerTime layer_time(const Simulation& run);

inline constexpr std::string_view collective_quantity = "collective_s";

// Why no such quantity can be predicted; empty if one can.
std::string quantity_obstacle(std::string_view quantity);

// How a quantity is written for people: "s", "B", "TFLOP/s" or "".
std::string_view quantity_unit(std::string_view quantity);

// Whether it is of one layer by itself, so that the whole job need never have run, nor fit in memory.
bool of_one_layer(std::string_view quantity);

// Of a simulated step. Throws RangeError if the step has nothing of the kind (a dimension that it does not use, say).
double predicted_quantity(std::string_view quantity, const Simulation& run, const Report& report);

}  // namespace weft
