#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/files.hpp"
#include "tools/options.hpp"
#include "tools/parallel.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

using Words = std::vector<std::string>;

std::vector<HeldCell> read_holds(const Words& texts) {
    std::vector<HeldCell> holds;
    for (const std::string& each : texts) {
        const std::size_t equals = each.find('=');
        if (equals == each.npos) throw OptionError("--hold: expected COLUMN=VALUE, got \"{}\"", each);
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
    const auto known = list_of<std::string>(all, &DeviceConstant::name);
    const std::string& list = arguments["fit"].as<std::string>();
    const std::vector<std::string_view> names = parts_of(list, ',');
    const auto is_called = [](const DeviceConstant& constant, std::string_view name) {
        return constant.name == name || constant.key() == name;
    };
    for (const std::string_view name : names) {
        if (std::ranges::any_of(all, [&](const auto& constant) { return is_called(constant, name); })) continue;
        throw OptionError("--fit: the device has no constant \"{}\"{}; it has {}", name, suggestion(name, known),
                          fmt::join(known, ", "));
    }
    std::ranges::copy_if(all, std::back_inserter(result), [&](const auto& constant) {
        return std::ranges::any_of(names, [&](std::string_view name) { return is_called(constant, name); });
    });
    return result;
}

// --within, where it is given: 0 may become anything.
void limit(std::vector<DeviceConstant>& constants, const Device& device, const po::variables_map& arguments) {
    const double factor = within_option(arguments);
    if (arguments["within"].defaulted()) return;
    for (DeviceConstant& constant : constants) {
        const double value = constant.value(device);
        if (value == 0.0) continue;
        constant.least = std::max(constant.least, value / factor);
        constant.most = std::min(constant.most, value * factor);
    }
}

std::vector<DeviceFitSource> read_tables(const Words& tables, const std::vector<HeldCell>& holds) {
    std::vector<DeviceFitSource> sources;
    for_each_with_mistakes(tables, [&](const std::string& file) {
        sources.push_back(table_source(file, read_device_table(file, read_text(file), holds)));
    });
    return sources;
}

void check_rows(const std::vector<DeviceFitSource>& sources) {
    if (std::ranges::any_of(sources, &DeviceFitSource::is_fitted)) return;
    throw OptionError(
        "no row is left to fit: name tables of kernels or a --set, and hold back fewer rows. Of a set, those count "
        "whose machine has a device of this name, which of a file is its own without .json");
}

// What the command line brings together: tables of kernels, rows of sets, traces of steps.
struct Gathered {
    std::vector<DeviceFitSource> sources;
    std::vector<Study> studies;  // of the traces
};

// One job for all traces, or one for each.
Study study_of_trace(const Words& jobs, std::size_t trace, std::size_t traces) {
    if (jobs.empty()) throw OptionError("--job: which job was recorded");
    if (jobs.size() != 1 && jobs.size() != traces) {
        throw OptionError("--job: expected one job for all traces or one for each of {}, got {}", traces, jobs.size());
    }
    return read_study(open_job(jobs[jobs.size() == 1 ? 0 : trace], {}).document);
}

void add_traces(const Words& traces, const Words& jobs, const std::string& device, Gathered& gathered) {
    for (std::size_t i = 0; i < traces.size(); ++i) {
        Study study = study_of_trace(jobs, i, traces.size());
        if (!device.empty()) study.device = load_device(device);
        if (i > 0 && study.device.name != gathered.studies.front().device.name) {
            throw OptionError("--job: one device at a time, got {} and {}", gathered.studies.front().device.name,
                              study.device.name);
        }
        const Simulation run = simulate_step(study, make_plan(study));
        gathered.sources.push_back(trace_source(study, compare_step(read_kineto(traces[i]), run)));
        gathered.studies.push_back(std::move(study));
    }
}

// Classes of passes that were not measured have what all passes have, until rows say otherwise.
void name_passes(Device& device) {
    for (std::size_t i = 1; i < pass_classes; ++i) {
        device.pass_efficiency[i] = device.efficiency_of(static_cast<PassClass>(i));
    }
}

}  // namespace

double within_option(const po::variables_map& arguments) {
    const double factor = arguments["within"].as<double>();
    if (factor > 1.0 && std::isfinite(factor)) return factor;
    throw OptionError("--within: expected a factor above 1, got {}", factor);
}

DeviceFit calibrate_device(const po::variables_map& arguments) {
    std::string name = option_text(arguments, "device");
    const auto [traces, tables] = traces_and_tables(arguments);
    const std::vector<HeldCell> holds = read_holds(option_texts(arguments, "hold"));
    Gathered gathered{.sources = read_tables(tables, holds), .studies = {}};
    add_traces(traces, option_texts(arguments, "job"), name, gathered);
    if (name.empty() && gathered.studies.empty())
        throw OptionError("name what to calibrate: --device, or --job of traces");
    if (name.empty()) name = gathered.studies.front().machine.info().device;
    Device device = load_device(name);
    name_passes(device);
    const auto sets = list_of<ValidationSet>(option_texts(arguments, "set"), load_validation_set);
    for (DeviceFitSource& source : set_sources(sets, device, holds)) gathered.sources.push_back(std::move(source));
    check_rows(gathered.sources);
    std::vector<DeviceConstant> constants = device_constants(device);
    if (gathered.studies.empty() || !arguments["fit"].defaulted()) {
        constants = asked(std::move(constants), arguments);
    } else {
        const bool alone = tables.empty() && sets.empty();
        std::erase_if(constants, [&](const DeviceConstant& constant) {
            return !is_told_by_steps(constant, gathered.studies.front()) && (alone || constant.is_asked_for);
        });
    }
    limit(constants, device, arguments);
    DeviceFit fit = fit_device(device, std::move(constants), gathered.sources, all_threads());
    if (arguments.count("out") > 0) {
        write_file_atomically(arguments["out"].as<std::string>(), device_with(name, fit, provenance(fit)));
    }
    return fit;
}

}  // namespace weft
