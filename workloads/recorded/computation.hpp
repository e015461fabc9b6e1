// How long the computation of a recorded program takes: as recorded, so many times as long, or as another device would
// take for the FLOPs and bytes that its nodes tell.
#pragma once

#include <cstddef>

#include "models/device/device.hpp"
#include "workloads/recorded/program.hpp"

namespace weft {

void scale_computation(RecordedProgram& program, double factor);

// Roofline: the longer of FLOPs at the plateau of products in 16 bits and bytes at what element-wise kernels reach,
// after a launch. Nodes of the host, and those that tell neither, keep their recorded time, which a note says.
void compute_on(RecordedProgram& program, const Device& device);

}  // namespace weft
