// `weft export JOB|MACHINE --format F`: what launches a job, or describes a machine, elsewhere.
#include <fmt/format.h>

#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"
#include "topologies/machine.hpp"
#include "workloads/exports/export.hpp"

namespace weft::commands {
namespace {

std::string exported(const ExportFormat& format, const po::variables_map& arguments) {
    if (format.machine != nullptr) return format.machine(Machine::load(job_path(arguments)));
    return format.job(job_study(arguments));
}

Exit run_export(const po::variables_map& arguments) {
    const std::string text = exported(find_export(arguments["format"].as<std::string>()), arguments);
    if (arguments.count("out")) {
        write_file_atomically(arguments["out"].as<std::string>(), text);
    } else {
        fmt::print("{}", text);
    }
    return Exit::ok;
}

}  // namespace

extern const Command export_{
    .name = "export",
    .summary = "write what launches a job, or describes a machine, elsewhere",
    .run = run_export,
    .group = CommandGroup::exchange,
};

}  // namespace weft::commands
