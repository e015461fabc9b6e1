// What `weft calibrate` fits, from the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/calibrate/device_fit.hpp"
#include "tools/command.hpp"
#include "topologies/calibration/calibration.hpp"
#include "topologies/machine.hpp"

namespace weft {

struct MeasuredRows {
    std::vector<CalibrationRow> rows;
    std::vector<std::string> files;  // of each row
};

double within_option(const po::variables_map& arguments);  // throws po::error: no factor above 1

// The rows of the tables on the command line that were measured with `library`, with ranks and nodes made sure of.
// Throws ConfigError, and po::error for options.
MeasuredRows measured_rows(const po::variables_map& arguments, const Machine& machine, const Library& library);

// The constants of a device from measured kernels, recorded steps and validation rows: `weft calibrate` without a
// machine; writes the file of --out. Throws ConfigError, and po::error for options.
DeviceFit calibrate_device(const po::variables_map& arguments);

// Files of devices and machines (shipped, or a path) with what was fitted in place of what was there; comments are
// lost. Each constant has `provenance` as its source, of a device with its standard deviation and what it replaces, of
// a machine's library behind the source before. Throw ConfigError.
std::string device_with(std::string_view name, const DeviceFit& fit, std::string_view provenance);
std::string machine_with(std::string_view name, const Calibration& calibration, std::string_view provenance);
// "fitted to 120 gemm, 16 memory rows (kernels.csv), rms error 3.1 %"
std::string provenance(const DeviceFit& fit);

}  // namespace weft
