// `weft calibrate TABLE... --machine M`: fits the constants of a communication library to measured times.
// `weft calibrate TABLE... --device D`: those of a device (tools/calibrate/rows.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "sim/io/atomic_file.hpp"
#include "tools/calibrate/copies.hpp"
#include "tools/calibrate/rows.hpp"
#include "tools/collective/options.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/output/calibration_text.hpp"

namespace weft::commands {
namespace {

void calibrate_options(po::options_description& options, po::positional_options_description& positional) {
    const auto text = [](const char* value) { return text_value(value); };
    const auto words = [](const char* value) {
        return po::value<std::vector<std::string>>()->value_name(value)->composing();
    };
    options.add_options()("table", words("TABLE"),
                          "output of nccl-tests, rccl-tests or OSU, or CSV; of tools/measure/kernels.py")(
        "machine", text("MACHINE"), "fit a library of this shipped machine, or machine file")(
        "device", text("DEVICE"), "fit this shipped device, or device file, to measured kernels")(
        "set", words("SET"), "of a device: fit the rows marked fit of this validation set, too (may be repeated)")(
        "library", text("L"), "a library of the machine file (default: its first)")(
        "fit", text("LIST")->default_value("launch,step,efficiency"),
        "what is fitted of a library: launch, step, efficiency, rate (of protocols that have a limit); of a device: "
        "keys of its file (default: all that the rows tell of, except gemm_tiles)")(
        "within", po::value<double>()->default_value(4.0, "4")->value_name("F"),
        "a constant changes by at most this factor")(
        "hold", words("COLUMN=VALUE"),
        "hold back rows by op, ranks, nodes or size (of a device: by any column) to judge the rest (may be repeated)")(
        "algorithm", text("A"), "the measured calls ran this algorithm")(
        "protocol", text("P"), "the measured calls ran this protocol")("op", text("OP"),
                                                                       "the collective, where a table does not tell")(
        "ranks", count_value("N"), "among so many ranks, where a table does not tell")(
        "nodes", count_value("N"), "on so many nodes, where a table does not tell")(
        "calls", text("blocking|queued")->default_value("blocking"),
        "blocking: times include the host's part; queued: they do not")(
        "out", text("F.json"), "write the machine or device file with the new constants")("json", po::bool_switch(),
                                                                                          "machine-readable output");
    add_measurement_options(options);
    positional.add("table", -1);
}

std::vector<Constant> constants_asked(const std::string& list) {
    const std::vector<std::string> known{"launch", "step", "efficiency", "rate"};
    std::vector<Constant> constants;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t comma = std::min(list.find(',', begin), list.size());
        const std::string name = list.substr(begin, comma - begin);
        const auto found = std::ranges::find(known, name);
        if (found == known.end()) {
            throw po::error(
                fmt::format("--fit: expected {}, got \"{}\"{}", fmt::join(known, ", "), name, suggestion(name, known)));
        }
        constants.push_back(static_cast<Constant>(found - known.begin()));
        begin = comma + 1;
    }
    return constants;
}

double factor_asked(double factor) {
    if (factor > 1.0 && std::isfinite(factor)) return factor;
    throw po::error(fmt::format("--within: expected a factor above 1, got {}", factor));
}

Exit calibrate_library(const po::variables_map& arguments) {
    if (arguments.count("table") == 0) throw po::required_option("table");
    if (arguments.count("set") > 0) throw po::error("--set: validation sets fit a --device");
    const std::string machine_name = option_text(arguments, "machine");
    const Machine machine = Machine::load(machine_name);
    const Library& library = library_named(machine.info(), option_text(arguments, "library"));
    const std::vector<Constant> constants = constants_asked(option_text(arguments, "fit"));
    const MeasuredRows rows = measured_rows(arguments, machine, library);
    const CalibrationTask task{.rows = rows.rows,
                               .constants = constants,
                               .most_change = factor_asked(arguments["within"].as<double>()),
                               .preference = {.algorithm = option_text(arguments, "algorithm"),
                                              .protocol = option_text(arguments, "protocol")},
                               .blocking = calls_option(arguments) == Calls::blocking ? library.blocking : Seconds{}};
    for (const CalibrationRow& row : rows.rows) check_preference(library, row.measured.op, task.preference);
    const Calibration calibration = calibrate(machine, library, task);
    fmt::print("{}",
               given(arguments, "json") ? calibration_json(calibration, rows) : calibration_text(calibration, rows));
    fmt::print(stderr, "{}", calibration_warnings(calibration, rows));
    if (arguments.count("out") > 0) {
        write_file_atomically(option_text(arguments, "out"),
                              machine_with(machine_name, calibration, provenance(calibration, rows)));
    }
    return Exit::ok;
}

Exit run_calibrate(const po::variables_map& arguments) {
    const bool is_device = arguments.count("device") > 0;
    if (is_device == (arguments.count("machine") > 0)) {
        throw po::error("name what to calibrate: either --machine or --device");
    }
    return is_device ? calibrate_device(arguments) : calibrate_library(arguments);
}

}  // namespace

extern const Command calibrate;
const Command calibrate{
    .name = "calibrate",
    .summary = "fit a library's or a device's constants to measurements",
    .usage = "weft calibrate TABLE... (--machine MACHINE [--library L] | --device DEVICE) [--out F.json] [options]",
    .details =
        "Fits launch, steps and efficiencies of the algorithms and protocols that the measured calls take, by\n"
        "non-negative least squares on relative errors; the library's choice and the fit take turns until nothing\n"
        "changes. Constants that the rows say nothing of are left alone. Tables: what nccl-tests, rccl-tests or the\n"
        "OSU micro-benchmarks print, or CSV with columns collective, ranks, nnodes, size_bytes and time_us.\n\n"
        "With --device: fits plateaus, launches and the like of an accelerator to measured kernels, by least squares\n"
        "in the logarithm of times. What the rows do not determine is left alone. Tables: what "
        "tools/measure/kernels.py\n"
        "writes on a machine that has the accelerator.\n\n"
        "  weft calibrate all_reduce.txt --machine dgx-a100 --calls queued --out my-dgx.json\n"
        "  weft calibrate measured.csv --machine frontier --hold ranks=1024\n"
        "  weft calibrate kernels.csv --device h100 --hold kind=attention --out my-h100.json",
    .options = calibrate_options,
    .run = run_calibrate,
    .group = CommandGroup::exchange,
};

}  // namespace weft::commands
