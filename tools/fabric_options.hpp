// The fabric as command-line options: --placement, --routing, --background, --load.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>

#include "topologies/machine.hpp"

namespace weft {

namespace po = boost::program_options;

void add_fabric_options(po::options_description& options);

// For a job of `nodes` nodes, at most as many as the machine has. Throws po::error; ConfigError for a node list.
Fabric fabric_option(const po::variables_map& arguments, const MachineInfo& machine, std::uint32_t nodes);

}  // namespace weft
