// What calibrations of libraries and devices found, for people and for programs; and what a validation set says that
// was left out of the fits.
#pragma once

#include <string>
#include <string_view>

#include "tools/calibrate/device_fit.hpp"
#include "tools/calibrate/rows.hpp"
#include "topologies/calibration/calibration.hpp"

namespace weft {

std::string calibration_text(const Calibration& calibration, const MeasuredRows& rows);
std::string calibration_json(const Calibration& calibration, const MeasuredRows& rows);

// A line for each fitted row that the fit misses by more than half: the table may hold an outlier or another algorithm.
std::string calibration_warnings(const Calibration& calibration, const MeasuredRows& rows);

// "fitted to 29 rows of all_reduce among 8 ranks on 1 node (table.csv), median error 3.1 %"
std::string provenance(const Calibration& calibration, const MeasuredRows& rows);

std::string device_calibration_text(const DeviceFit& fit);
std::string device_calibration_json(const DeviceFit& fit);

// A value in its unit: "0.8132", "2.4 us".
std::string constant_text(const DeviceConstant& constant, double value);
// The standard deviation of the i-th constant; empty if there is none.
std::string deviation_text(const DeviceFit& fit, std::size_t i);

std::string left_out_text(std::string_view set, const LeftOut& result);

}  // namespace weft
