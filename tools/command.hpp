// One subcommand of `weft`: one constant in one file of tools/commands, found by the build (weft_registry). Beside it
// <name>.help says how it is called, in one line what it is for, what `weft <name> --help` tells and, below a line
// OPTIONS, its options: a line each, and what it means in lines that are indented.
//
//   --json                   a switch
//   --out,o FILE             a text; help calls it FILE
//   --top K (=5)             with a default
//   --set KEY=VALUE list     texts, since it may be given several times; `number`: a double; `count`: a whole number
//   <job> JOB required       an argument; <file...>: all that follow
//   + fabric                 the options of fabric.options; behind it (=D): with this default of their first
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"
#include "sim/engine/engine.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/embedded.hpp"
#include "tools/output/job_json.hpp"
#include "tools/page/inputs.hpp"
#include "topologies/machine.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/job/job.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/report/report.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {

enum class Exit : int {
    ok = 0,
    mismatch = 1,
    usage = 2,
    bad_input = 3,
    does_not_fit = 4,
    internal = 70,
    interrupted = 130
};

namespace po = boost::program_options;
using OptionError = Formatted<po::error>;  // of an option, or of what it says

// Whether a switch was given.
inline bool given(const po::variables_map& arguments, const char* option) { return arguments[option].as<bool>(); }

// Under which heading `weft --help` lists a command, in this order.
enum class CommandGroup : std::uint8_t { run, inspect, exchange, other };

// What a command says on stdout at its end; some have written before.
struct Answer {
    std::string text{};
    Exit exit = Exit::ok;
};

// The user's mistakes: throw ConfigError (exit code 3) or OptionError (exit code 2).
struct Command {
    std::string_view name;  // "simulate"
    Answer (*run)(const po::variables_map&) = nullptr;
    CommandGroup group = CommandGroup::other;
    bool is_of_library = false;  // which can ask it as well: it says nothing but its answer
};

namespace commands {
std::span<const Command* const> all();  // sorted by file name
}

// Options that several commands share.

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

// Why a job has no result.

std::string obstacle(const ConfigError& error);  // "layout.tensor: 12 heads ...; zero: ..."
std::string obstacle(const Plan& plan);          // "does not fit: stage 0 needs 123 GiB of 64.0 GiB"; empty if it fits

// Why a plan that does not fit in memory is refused: the numbers, and what would fit. `remedy` follows the first
// line's.
std::string memory_refusal(const Plan& plan, const std::vector<MemoryAdvice>& advice, std::string_view remedy);
// Of a plan that does not fit in memory: says so on stderr, with the numbers and what would fit. Returns whether it
// is not to be simulated. `advice`: memory_advice() of such a plan.
bool refused_for_memory(const po::variables_map& arguments, const Plan& plan, const std::vector<MemoryAdvice>& advice);
bool refused_for_memory(const po::variables_map& arguments, const Study& study, const Plan& plan);

// What a simulation takes of the machine that runs it: told, and refused, before its tables are made.

// A step is larger than the memory it may take. what() has the numbers.
struct TooLarge : RangeError {
    TooLarge(const StepSize& step, Bytes most);
    StepSize size;
    Bytes limit;
};

// --memory-limit: what each of so many simulations at a time may take. Without the option most of what the machine has
// free. Throws OptionError where it is no size.
Bytes memory_limit(const po::variables_map& arguments, unsigned at_a_time = 1);
// Throws TooLarge above the limit.
SizeListener refuse_above(Bytes limit);

// --network, --fold and --memory-limit of the commands that simulate. `page`: the file that shows links over time;
// empty: there is none.
SimulationOptions simulation_options(const po::variables_map& arguments, std::string_view page = {},
                                     unsigned at_a_time = 1);

// "about 0.3 s and 140 MiB: 32 classes of 128 ranks, 22,100 operations, ..."
std::string size_text(const StepSize& size);
std::string size_json(const SizedStep& step);

// After a refusal: other foldings and smaller batches of the job that keep to the limit, a line each.
std::string what_would_fit(const po::variables_map& arguments, Folding asked, const TooLarge& refused);

// What the machine has available, or what the control groups of the process leave it, if that is less (both versions of
// Linux: man 7 cgroups). Pages of files that can be dropped count as free. Infinite where neither says anything.
// `root`: where /proc and /sys are.
Bytes free_memory(const std::filesystem::path& root = "/");

}  // namespace weft
