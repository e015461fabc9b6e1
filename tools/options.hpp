// Options that several commands share.
#pragma once

#include <boost/program_options.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "tools/command.hpp"
#include "topologies/machine.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/report/flop_convention.hpp"

namespace weft {

struct CountOption {
    const char* name;  // "top" of --top
    std::uint32_t least = 1;
    std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    std::string_view reason = {};  // of `most`
};

// Absent where it is not given and has no default. Throws po::error: what stands there is no such number.
std::optional<std::uint32_t> count_option(const po::variables_map& arguments, const CountOption& option);

inline constexpr CountOption jobs_option{.name = "jobs", .most = 1024, .reason = "each is a thread"};

// Of an option with a text; empty if it is not given.
std::string option_text(const po::variables_map& arguments, const char* name);

// The option --flops of the commands that tell TFLOP/s.
std::optional<FlopConvention> flops_option(const po::variables_map& arguments);  // throws po::error for another name

// The options --fold and --no-fold of the commands that simulate.
Folding folding_named(const std::string& how);               // throws po::error for another name
Folding folding_option(const po::variables_map& arguments);  // throws po::error for another name

// The file that --`option` names; empty if it is not given. po::error where its name ends in none of `endings`.
std::string output_option(const boost::program_options::variables_map& arguments, const char* option,
                          std::initializer_list<std::string_view> endings);

// --placement, --routing, --background and --load, for a job of at most as many nodes as the machine has. Throws
// po::error; ConfigError for a node list.
Fabric fabric_option(const po::variables_map& arguments, const MachineInfo& machine, std::uint32_t nodes);

}  // namespace weft
