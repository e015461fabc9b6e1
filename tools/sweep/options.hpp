// The options of `weft sweep` that say what is swept and where rows go.
#pragma once

#include <boost/program_options.hpp>

#include "tools/sweep/request.hpp"
#include "tools/sweep/sweep.hpp"

namespace weft {

namespace po = boost::program_options;

void add_sweep_options(po::options_description& options);

// From the job or sweep file, --vary, --zip, --where and --set. Throws po::error, ConfigError.
SweepRequest sweep_request(const po::variables_map& arguments);

// From --out, --shard and --resume; without a crew's settings. Throws po::error.
SweepSettings sweep_settings(const po::variables_map& arguments);

}  // namespace weft
