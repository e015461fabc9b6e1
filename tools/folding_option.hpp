// The options --fold and --no-fold of the commands that simulate.
#pragma once

#include <boost/program_options.hpp>

#include "workloads/folding/folding.hpp"

namespace weft {

namespace po = boost::program_options;

// `folding` is what happens without either option.
void add_folding_options(po::options_description& options, Folding folding);
Folding folding_named(const std::string& how);               // throws po::error for another name
Folding folding_option(const po::variables_map& arguments);  // throws po::error for another name

}  // namespace weft
