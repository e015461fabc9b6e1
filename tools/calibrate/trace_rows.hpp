// Recorded steps as measurements of a device.
#pragma once

#include <string>
#include <vector>

#include "tools/calibrate/device_fit.hpp"
#include "workloads/job/job.hpp"
#include "workloads/recorded/step_comparison.hpp"

namespace weft {

// Of a step of `study`: kernels by class and pass that both sides have; what lies between kernels where the host is
// ahead, else the host's time to issue a layer. What takes less than 1/200 of the step, or is of kernels shorter than
// 10 us, tells nothing.
DeviceFitSource trace_source(const Study& study, const StepComparison& found);

// Whether steps of such a job tell this constant of its device, by rows of its own.
bool is_told_by_steps(const DeviceConstant& constant, const Study& study);

}  // namespace weft
