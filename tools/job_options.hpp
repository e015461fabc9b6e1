// The arguments that every command taking a JOB shares: the file and its overrides.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "workloads/job.hpp"

namespace weft {

namespace po = boost::program_options;

// Adds the positional JOB and the repeatable --set key.path=value.
void add_job_options(po::options_description& options, po::positional_options_description& positional);

std::string job_path(const po::variables_map& arguments);  // throws po::error if there is none
std::vector<std::string> job_overrides(const po::variables_map& arguments);
Study job_study(const po::variables_map& arguments, Purpose purpose = Purpose::simulation);

// Adds --network flow|ideal|free.
void add_network_option(po::options_description& options);
NetworkKind network_option(const po::variables_map& arguments);  // throws po::error for another name

}  // namespace weft
