// Options that several commands share.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/io/embedded.hpp"
#include "tools/command.hpp"
#include "tools/output/job_json.hpp"
#include "tools/page/inputs.hpp"
#include "topologies/machine.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/job/job.hpp"
#include "workloads/report/report.hpp"

namespace weft {

struct CountOption {
    const char* name;  // "top" of --top
    std::uint32_t least = 1;
    std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    std::string_view reason = {};  // of `most`
};

// Absent where it is not given and has no default. Throws OptionError: what stands there is no such number.
std::optional<std::uint32_t> count_option(const po::variables_map& arguments, const CountOption& option);

// "--option: expected ..., got ..."
OptionError unexpected(std::string_view option, std::string_view expected, std::string_view text);

// What `read` makes of the option's text; absent where it is not given. Throws OptionError: it makes nothing of it.
template <class Read>
auto read_option(const po::variables_map& arguments, const char* option, std::string_view expected, Read read)
    -> decltype(read(std::string())) {
    if (arguments.count(option) == 0) return std::nullopt;
    const std::string& text = arguments[option].as<std::string>();
    if (auto value = read(text)) return value;
    throw unexpected(option, expected, text);
}

// "15T", "300B", "2.5e9": decimal, above 0. Throws OptionError.
std::optional<double> decimal_option(const po::variables_map& arguments, const char* option, std::string_view example);

unsigned threads_option(const po::variables_map& arguments);  // --jobs, or all of the processor's

// Numbers below `count`, ascending, of an option such as "0,4-6"; none if it is not given. Throws OptionError.
std::vector<std::uint32_t> numbers_option(const po::variables_map& arguments, const char* name, std::size_t count);

// Of an option with a text; empty if it is not given.
std::string option_text(const po::variables_map& arguments, const char* name);

// The option --flops of the commands that tell TFLOP/s.
std::optional<FlopConvention> flops_option(const po::variables_map& arguments);  // throws OptionError for another name

// The options --fold and --no-fold of the commands that simulate.
Folding folding_named(const std::string& how);               // throws OptionError for another name
Folding folding_option(const po::variables_map& arguments);  // throws OptionError for another name

// The file that --`option` names; empty if it is not given. OptionError where its name ends in none of `endings`.
std::string output_option(const po::variables_map& arguments, const char* option,
                          std::initializer_list<std::string_view> endings);

// --placement, --routing, --background and --load, for a job of at most as many nodes as the machine has. Throws
// OptionError; ConfigError for a node list.
Fabric fabric_option(const po::variables_map& arguments, const MachineInfo& machine, std::uint32_t nodes);

// What a name on the command line means: a shipped file's name, or the path from anywhere. Throws ConfigError.
std::string named_here(std::span<const embedded::File> shipped, std::string_view kind, std::string_view said);

// The arguments that every command taking a JOB shares: the file and its overrides.

std::string job_path(const po::variables_map& arguments);  // empty with a machine and a model; throws OptionError
std::vector<std::string> job_overrides(const po::variables_map& arguments);
// The job with its overrides.
Document job_document(const po::variables_map& arguments);
// What JSON tells of it beside what it says.
JobRecord job_record(const po::variables_map& arguments);
Study job_study(const po::variables_map& arguments, Purpose purpose = Purpose::simulation);

// On stderr, a line each: where, how bad, what. Of a job, the notes on a file of another tool.
void print_notes(std::span<const FormatNote> notes);
void print_growth(const MachineInfo& machine, std::uint32_t nodes);  // MachineInfo::growth, where there is any
void print_job_notes(const po::variables_map& arguments);

// The texts of a repeatable option, as typed; none if it is not given.
std::vector<std::string> option_texts(const po::variables_map& arguments, const char* option);
// "weft COMMAND JOB --set '...'" with what was typed of these options.
std::string typed_command(std::string_view command, const po::variables_map& arguments,
                          std::initializer_list<const char*> options = {});

// The job as it was asked for, for whoever reads a command's page later. Of a command with --network.
JobInput job_input(std::string_view command, const po::variables_map& arguments);

NetworkKind network_named(const std::string& name);  // throws OptionError for another name
NetworkKind network_option(const po::variables_map& arguments);

}  // namespace weft
