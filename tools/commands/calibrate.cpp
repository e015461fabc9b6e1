// `weft calibrate TABLE... --machine M`: fits the constants of a communication library to measured times.
// `weft calibrate TABLE... --device D`, `weft calibrate TRACE... --job JOB`: those of a device
// (tools/calibrate/device_fit.hpp).
#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "sim/base/enumerators.hpp"
#include "sim/base/texts.hpp"
#include "sim/io/files.hpp"
#include "tools/calibrate/device_fit.hpp"
#include "tools/collective/collective.hpp"
#include "tools/command.hpp"
#include "tools/output/result_texts.hpp"

namespace weft::commands {
namespace {

std::vector<Constant> constants_asked(const std::string& list) {
    return list_of<Constant>(parts_of(list, ','), [](std::string_view name) {
        if (const auto constant = enumerator_called<Constant>(name)) return *constant;
        const std::vector<std::string> known = all_enumerator_names<Constant>();
        throw OptionError("--fit: expected {}, got \"{}\"{}", fmt::join(known, ", "), name, suggestion(name, known));
    });
}

Answer calibrate_library(const po::variables_map& arguments) {
    if (arguments.count("table") == 0) throw po::required_option("table");
    if (arguments.count("set") > 0) throw OptionError("--set: validation sets fit a --device");
    const std::string machine_name = option_text(arguments, "machine");
    const Machine machine = Machine::load(machine_name);
    const Library& library = library_named(machine.info(), option_text(arguments, "library"));
    const std::vector<Constant> constants = constants_asked(option_text(arguments, "fit"));
    const MeasuredRows rows = measured_rows(arguments, machine, library);
    const CalibrationTask task{.rows = rows.rows,
                               .constants = constants,
                               .most_change = within_option(arguments),
                               .preference = {.algorithm = option_text(arguments, "algorithm"),
                                              .protocol = option_text(arguments, "protocol")}};
    for (const CalibrationRow& row : rows.rows) check_preference(library, row.measured.op, task.preference);
    const Calibration calibration = calibrate(machine, library, task);
    fmt::print(stderr, "{}", calibration_warnings(calibration, rows));
    if (arguments.count("out") > 0) {
        write_file_atomically(option_text(arguments, "out"),
                              machine_with(machine_name, calibration, provenance(calibration, rows)));
    }
    return {given(arguments, "json") ? calibration_json(calibration, rows) : calibration_text(calibration, rows)};
}

Answer answer_calibrate(const po::variables_map& arguments) {
    const bool is_device = arguments.count("device") > 0 || arguments.count("job") > 0;
    if (is_device == (arguments.count("machine") > 0)) {
        throw OptionError("name what to calibrate: either --machine, or --device, or --job of recorded steps");
    }
    if (!is_device) return calibrate_library(arguments);
    const DeviceFit fit = calibrate_device(arguments);
    return {given(arguments, "json") ? device_calibration_json(fit) : device_calibration_text(fit)};
}

}  // namespace

extern const Command calibrate{
    .name = "calibrate", .run = answer_calibrate, .group = CommandGroup::exchange, .is_of_library = true};

}  // namespace weft::commands
