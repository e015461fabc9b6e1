#include "tools/calibrate/device_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/io/atomic_file.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/text_file.hpp"
#include "tools/calibrate/device_copy.hpp"
#include "tools/calibrate/device_fit.hpp"
#include "tools/calibrate/device_sets.hpp"
#include "tools/output/calibration_text.hpp"
#include "tools/parallel.hpp"

namespace weft {
namespace {

using Words = std::vector<std::string>;

Words words(const po::variables_map& arguments, const char* name) {
    return arguments.count(name) > 0 ? arguments[name].as<Words>() : Words{};
}

std::vector<HeldCell> read_holds(const Words& texts) {
    std::vector<HeldCell> holds;
    for (const std::string& each : texts) {
        const std::size_t equals = each.find('=');
        if (equals == each.npos) throw po::error(fmt::format("--hold: expected COLUMN=VALUE, got \"{}\"", each));
        holds.emplace_back(each.substr(0, equals), each.substr(equals + 1));
    }
    return holds;
}

// Those named, in the order of `all`; "gemm_alignment" is every entry of the list. Without --fit, all that need not be
// asked for.
std::vector<DeviceConstant> asked(std::vector<DeviceConstant> all, const po::variables_map& arguments) {
    std::vector<DeviceConstant> result;
    if (arguments["fit"].defaulted()) {
        std::ranges::copy_if(all, std::back_inserter(result), [](const auto& c) { return !c.is_asked_for; });
        return result;
    }
    Words known;
    for (const DeviceConstant& constant : all) known.push_back(constant.name);
    const std::string& list = arguments["fit"].as<std::string>();
    std::vector<bool> is_asked(all.size(), false);
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t comma = std::min(list.find(',', begin), list.size());
        const std::string name = list.substr(begin, comma - begin);
        bool is_known = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].name != name && all[i].key() != name) continue;
            is_asked[i] = is_known = true;
        }
        if (!is_known) {
            throw po::error(fmt::format("--fit: the device has no constant \"{}\"{}; it has {}", name,
                                        suggestion(name, known), fmt::join(known, ", ")));
        }
        begin = comma + 1;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (is_asked[i]) result.push_back(std::move(all[i]));
    }
    return result;
}

// --within, where it is given: 0 may become anything.
void limit(std::vector<DeviceConstant>& constants, const Device& device, const po::variables_map& arguments) {
    const double factor = arguments["within"].as<double>();
    if (!(factor > 1.0 && std::isfinite(factor))) {
        throw po::error(fmt::format("--within: expected a factor above 1, got {}", factor));
    }
    if (arguments["within"].defaulted()) return;
    for (DeviceConstant& constant : constants) {
        const double value = constant.value(device);
        if (value == 0.0) continue;
        constant.least = std::max(constant.least, value / factor);
        constant.most = std::min(constant.most, value * factor);
    }
}

std::vector<DeviceFitSource> read_tables(const po::variables_map& arguments, const std::vector<HeldCell>& holds) {
    std::vector<DeviceFitSource> sources;
    std::vector<Diagnostic> errors;
    for (const std::string& file : words(arguments, "table")) {
        try {
            sources.push_back(table_source(file, read_device_table(file, read_text(file), holds)));
        } catch (const ConfigError& error) {
            errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
    return sources;
}

void check_rows(const std::vector<DeviceFitSource>& sources) {
    const auto is_fitted = [](const DeviceFitRow& row) { return !row.is_held; };
    for (const DeviceFitSource& source : sources) {
        if (std::ranges::any_of(source.rows, is_fitted)) return;
    }
    throw po::error(
        "no row is left to fit: name tables of kernels or a --set, and hold back fewer rows. Of a set, those count "
        "whose machine has a device of this name, which of a file is its own without .json");
}

}  // namespace

Exit calibrate_device(const po::variables_map& arguments) {
    const std::string name = arguments["device"].as<std::string>();
    const Device device = load_device(name);
    std::vector<DeviceConstant> constants = asked(device_constants(device), arguments);
    limit(constants, device, arguments);
    const std::vector<HeldCell> holds = read_holds(words(arguments, "hold"));
    std::vector<DeviceFitSource> sources = read_tables(arguments, holds);
    std::vector<ValidationSet> sets;
    for (const std::string& set : words(arguments, "set")) sets.push_back(load_validation_set(set));
    for (DeviceFitSource& source : set_sources(sets, device, holds)) sources.push_back(std::move(source));
    check_rows(sources);
    const DeviceFit fit = fit_device(device, std::move(constants), sources, all_threads());
    fmt::print("{}", arguments["json"].as<bool>() ? device_calibration_json(fit) : device_calibration_text(fit));
    if (arguments.count("out") > 0) {
        write_file_atomically(arguments["out"].as<std::string>(), device_with(name, fit, provenance(fit)));
    }
    return Exit::ok;
}

}  // namespace weft
