// The arguments that every command taking a JOB shares: the file and its overrides.
#pragma once

#include <boost/program_options.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
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

// The texts of a repeatable option, as typed; none if it is not given.
std::vector<std::string> option_texts(const po::variables_map& arguments, const char* option);
// "weft COMMAND JOB --set '...'" with what was typed for some repeatable options.
std::string typed_command(std::string_view command, const po::variables_map& arguments,
                          std::initializer_list<const char*> options = {});

// Adds --network flow|ideal|free.
void add_network_option(po::options_description& options);
NetworkKind network_option(const po::variables_map& arguments);  // throws po::error for another name

}  // namespace weft
