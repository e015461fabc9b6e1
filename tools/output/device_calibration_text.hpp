// What the calibration of a device found, for people and for programs.
#pragma once

#include <string>

#include "tools/calibrate/device_fit.hpp"

namespace weft {

std::string device_calibration_text(const DeviceFit& fit);
std::string device_calibration_json(const DeviceFit& fit);

// A value in its unit: "0.8132", "2.4 us".
std::string constant_text(const DeviceConstant& constant, double value);
// The standard deviation of the i-th constant; empty if there is none.
std::string deviation_text(const DeviceFit& fit, std::size_t i);

}  // namespace weft
