// The arguments that every command taking a JOB shares: the file and its overrides.
#pragma once

#include <boost/program_options.hpp>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/engine.hpp"
#include "tools/output/job_json.hpp"
#include "tools/page/inputs.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/job/job.hpp"

namespace weft {

namespace po = boost::program_options;

std::string job_path(const po::variables_map& arguments);  // empty with a machine and a model; throws po::error
std::vector<std::string> job_overrides(const po::variables_map& arguments);
// The job with its overrides.
Document job_document(const po::variables_map& arguments);
// What JSON tells of it beside what it says.
JobRecord job_record(const po::variables_map& arguments);
Study job_study(const po::variables_map& arguments, Purpose purpose = Purpose::simulation);

// On stderr, a line each: where, how bad, what. Of a job, the notes on a file of another tool.
void print_notes(std::span<const FormatNote> notes);
void print_job_notes(const po::variables_map& arguments);

// The texts of a repeatable option, as typed; none if it is not given.
std::vector<std::string> option_texts(const po::variables_map& arguments, const char* option);
// "weft COMMAND JOB --set '...'" with what was typed for some repeatable options.
std::string typed_command(std::string_view command, const po::variables_map& arguments,
                          std::initializer_list<const char*> options = {});

// The job as it was asked for, for whoever reads a command's page later. Of a command with --network.
JobInput job_input(std::string_view command, const po::variables_map& arguments);

NetworkKind network_named(const std::string& name);  // throws po::error for another name
NetworkKind network_option(const po::variables_map& arguments);

}  // namespace weft
