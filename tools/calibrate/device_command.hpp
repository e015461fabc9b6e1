// `weft calibrate --device`: the constants of a device from measured kernels and validation rows.
#pragma once

#include <boost/program_options.hpp>

#include "tools/command.hpp"

namespace weft {

// The arguments of `weft calibrate`, "device" among them. Throws ConfigError, and po::error for options.
Exit calibrate_device(const boost::program_options::variables_map& arguments);

}  // namespace weft
