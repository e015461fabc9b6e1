// The option --flops of the commands that tell TFLOP/s.
#pragma once

#include <boost/program_options.hpp>
#include <optional>

#include "workloads/report/flop_convention.hpp"

namespace weft {

namespace po = boost::program_options;

void add_flops_option(po::options_description& options);
std::optional<FlopConvention> flops_option(const po::variables_map& arguments);  // throws po::error for another name

}  // namespace weft
