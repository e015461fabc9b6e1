// The command line of `weft collective`.
#pragma once

#include <boost/program_options.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "tools/collective/request.hpp"
#include "topologies/measurements/measurement.hpp"

namespace weft {

// "8:1G:2": from 8 bytes to 1 GiB, each twice the one before; "8,64K,1M": just these. Suffixes K, M, G and T (also KiB,
// and so on) are powers of 1024. Throws po::error, which names `option`.
std::vector<Bytes> parse_sizes(std::string_view text, std::string_view option);

namespace po = boost::program_options;

std::vector<std::string> collective_names();

// Throws po::error, or ConfigError for the machine file.
CollectiveRequest collective_request(const po::variables_map& arguments);

// For the tables of measurements that --compare (and `weft calibrate`) reads.
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
