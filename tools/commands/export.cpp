// `weft export JOB|MACHINE --format F`: what launches a job, or describes a machine, elsewhere.
#include <fmt/format.h>

#include <cstdio>

#include "sim/io/atomic_file.hpp"
#include "tools/command.hpp"
#include "tools/job_options.hpp"
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

void add_options(po::options_description& options, po::positional_options_description& positional) {
    add_job_options(options, positional);
    std::string names;
    for (const ExportFormat* const format : exports::all())
        names += (names.empty() ? "" : ", ") + std::string(format->name);
    options.add_options()("format", po::value<std::string>()->required()->value_name("FORMAT"), names.c_str())(
        "out,o", text_value("FILE"), "write it there instead of to stdout");
}

}  // namespace

extern const Command export_;
const Command export_{
    .name = "export",
    .summary = "write what launches a job, or describes a machine, elsewhere",
    .usage = "weft export JOB|MACHINE --format FORMAT [--out FILE] [--set KEY=VALUE]...",
    .details =
        "What the format cannot say of the job is refused, all of it at once. Comments \"# weft: ...\" hold\n"
        "what only weft knows, so that 'weft import' of the file gives the same job.\n\n"
        "  weft plan job.json --write-job best.json && weft export best.json --format megatron --out train.sh\n\n"
        "Exit codes: 0 written, 3 mistakes in the input, or something that the format cannot say.",
    .options = add_options,
    .run = run_export,
    .group = CommandGroup::exchange,
};

}  // namespace weft::commands
