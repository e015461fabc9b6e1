// What `weft calibrate` fits, from the command line.
#pragma once

#include <boost/program_options.hpp>

#include <string>
#include <vector>

#include "tools/calibrate/device_fit.hpp"
#include "tools/command.hpp"
#include "topologies/calibration/calibration.hpp"
#include "topologies/machine.hpp"

namespace weft {

namespace po = boost::program_options;

struct MeasuredRows {
    std::vector<CalibrationRow> rows;
    std::vector<std::string> files;  // of each row
};

// The rows of the tables on the command line that were measured with `library`, with ranks and nodes made sure of.
// Throws ConfigError, and po::error for options.
MeasuredRows measured_rows(const po::variables_map& arguments, const Machine& machine, const Library& library);

// `weft calibrate --device`: the constants of a device from measured kernels, recorded steps
// and validation rows.

// The arguments of `weft calibrate` without a machine; writes the file of --out. Throws ConfigError, and po::error for
// options.
DeviceFit calibrate_device(const po::variables_map& arguments);

}  // namespace weft
