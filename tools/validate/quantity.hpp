// What validation rows measure, by the name of their column (without "measured."), in SI units:
//
//   step_s tokens_per_s peak_bytes           of the step
//   model_tflops megatron_tflops neox_tflops TFLOP/s per GPU by a convention (workloads/report/flop_convention.hpp)
//   layer_forward_s layer_backward_s         of one transformer layer (tools/validate/layer_time.hpp)
//   communication.<dimension>_s              in transfer, mean over ranks: communication.tensor_s,
//   communication.<dimension>.<op>_s         communication.data.all_gather_s; blanks of the names are '_'
//   call.<dimension>[.<op>]_s                the same of one call, on average
//   collective_s                             one collective on its own; the row's keys are those of
//                                            tools/validate/collective_case.hpp
//   and any metric of `weft simulate --json`: step.compute_s, memory.peak_bytes, ...
#pragma once

#include <string>
#include <string_view>

#include "workloads/report/report.hpp"

namespace weft {

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
