// The command line of `weft collective`.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "tools/collective/request.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {

namespace po = boost::program_options;

void add_collective_options(po::options_description& options, po::positional_options_description& positional);

std::vector<std::string> collective_names();

// Throws po::error, or ConfigError for the machine file.
CollectiveRequest collective_request(const po::variables_map& arguments);

// For the tables of measurements that --compare (and `weft calibrate`) reads.
void add_measurement_options(po::options_description& options);
MeasurementHints measurement_hints(const po::variables_map& arguments);

// --calls blocking|queued. Throws po::error for another word.
Calls calls_option(const po::variables_map& arguments);

// --ranks-per-node, or all accelerators of a node. Throws po::error for more than it has.
std::uint32_t ranks_per_node_option(const po::variables_map& arguments, const MachineInfo& machine);

// One group of so many ranks. Throws po::error where they need more nodes than the machine has.
SetLayout layout_of(std::uint32_t ranks, std::uint32_t ranks_per_node, const MachineInfo& machine);

// Of the machine: the one of that name, or its default if it is empty. Throws po::error, with the nearest names.
const Library& library_named(const MachineInfo& machine, const std::string& name);

}  // namespace weft
