#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/files.hpp"
#include "tools/collective/request.hpp"
#include "tools/options.hpp"
#include "tools/output/result_texts.hpp"
#include "tools/parallel.hpp"
#include "topologies/blocks/block.hpp"
#include "topologies/library_reader.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

using Words = std::vector<std::string>;

// Every condition is KEY=VALUE; a row that meets one of them is held back.
std::vector<HeldCell> read_holds(const po::variables_map& arguments) {
    std::vector<HeldCell> holds;
    const Words keys{"op", "ranks", "nodes", "size"};
    for (const std::string& each : option_texts(arguments, "hold")) {
        const std::size_t equals = each.find('=');
        const std::string key = each.substr(0, equals);
        if (equals == each.npos || std::ranges::find(keys, key) == keys.end()) {
            throw OptionError("--hold: expected op=, ranks=, nodes= or size= and a value, got \"{}\"{}", each,
                              suggestion(key, keys));
        }
        const std::string value = each.substr(equals + 1);
        if (key == "op" && !find_collective(value)) {
            throw OptionError("--hold: no collective is called \"{}\"", value);
        }
        if (key != "op") parse_sizes(value, "hold");  // refuses what is no number
        holds.emplace_back(key, value);
    }
    return holds;
}

bool is_held(const CollectiveMeasurement& row, const std::vector<HeldCell>& holds) {
    return std::ranges::any_of(holds, [&](const HeldCell& hold) {
        const auto& [key, text] = hold;
        if (key == "op") return find_collective(text) == row.op;
        const Bytes value = key == "ranks"   ? Bytes{static_cast<double>(row.ranks)}
                            : key == "nodes" ? Bytes{static_cast<double>(row.nodes)}
                                             : row.size;
        return std::ranges::count(parse_sizes(text, "hold"), value) > 0;
    });
}

// Ranks and nodes of a row, checked against the machine; the message of what is wrong, or "".
std::string place(CollectiveMeasurement& row, const MachineInfo& machine) {
    if (row.ranks == 0) return "the table does not tell among how many ranks: say --ranks";
    if (row.nodes == 0) row.nodes = divide_up(row.ranks, machine.accelerators_per_node);
    if (row.nodes > machine.nodes)
        return fmt::format("{} has {} nodes, not {}", machine.name, machine.nodes, row.nodes);
    if (row.ranks % row.nodes != 0) {
        return fmt::format("{} ranks do not fill {} nodes evenly", row.ranks, row.nodes);
    }
    if (row.ranks / row.nodes > machine.accelerators_per_node) {
        return fmt::format("{} ranks on {} nodes: a node of {} has {} accelerators", row.ranks, row.nodes, machine.name,
                           machine.accelerators_per_node);
    }
    return row.op == Collective::point_to_point && row.ranks != 2 ? "point_to_point is among 2 ranks" : "";
}

MeasurementHints hints_of(const po::variables_map& arguments) {
    MeasurementHints hints = measurement_hints(arguments);
    if (arguments.count("op") > 0) {
        const std::string& text = arguments["op"].as<std::string>();
        hints.op = find_collective(text);
        if (!hints.op) throw OptionError("--op: no collective is called \"{}\"", text);
    }
    hints.ranks = count_option(arguments, {"ranks"}).value_or(hints.ranks);
    hints.nodes = count_option(arguments, {"nodes"}).value_or(hints.nodes);
    return hints;
}

// What the options say and no row of the table agrees with, or "".
std::string contradiction(std::span<const CollectiveMeasurement> rows, const MeasurementHints& hints) {
    const auto differs = [&](std::uint32_t said, std::uint32_t CollectiveMeasurement::*told) {
        return said != 0 && std::ranges::none_of(rows, [&](const CollectiveMeasurement& row) {
                   return row.*told == 0 || row.*told == said;
               });
    };
    if (rows.empty()) return "";
    if (differs(hints.ranks, &CollectiveMeasurement::ranks)) {
        return fmt::format(
            "measured among {} ranks by its own lines, and --ranks says {}: a log of nccl-tests names a "
            "device for each rank, and one device means that its processes ran each for itself",
            rows.front().ranks, hints.ranks);
    }
    if (!differs(hints.nodes, &CollectiveMeasurement::nodes)) return "";
    return fmt::format("measured on {} nodes by its own lines, and --nodes says {}", rows.front().nodes, hints.nodes);
}

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
    Words known;
    for (const DeviceConstant& constant : all) known.push_back(constant.name);
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
    std::vector<Diagnostic> errors;
    for (const std::string& file : tables) {
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

MeasuredRows measured_rows(const po::variables_map& arguments, const Machine& machine, const Library& library) {
    const MeasurementHints hints = hints_of(arguments);
    const std::vector<HeldCell> holds = read_holds(arguments);
    MeasuredRows result;
    std::vector<Diagnostic> errors;
    for (const std::string& file : arguments["table"].as<Words>()) {
        const MeasurementTable table = read_measurements(file, hints);
        for (const SkippedRow& row : table.skipped) {
            fmt::print(stderr, "{}:{}: skipped: {}\n", file, row.line, row.why);
        }
        std::vector<CollectiveMeasurement> rows = of_one_kind(table, table.rows, library.name);
        if (std::string wrong = contradiction(rows, hints); !wrong.empty()) {
            errors.push_back({file, rows.front().line, 1, {}, std::move(wrong)});
            continue;
        }
        for (CollectiveMeasurement& row : rows) {
            if (std::string wrong = place(row, machine.info()); !wrong.empty()) {
                errors.push_back({.file = file, .line = row.line, .column = 1, .key = {}, .message = std::move(wrong)});
                continue;
            }
            const bool held = is_held(row, holds);
            result.rows.push_back({.measured = std::move(row), .is_held = held});
            result.files.push_back(std::filesystem::path(file).filename().string());
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
    if (std::ranges::all_of(result.rows, [](const CalibrationRow& row) { return row.is_held; })) {
        throw OptionError("--hold: no row is left to fit");
    }
    return result;
}

DeviceFit calibrate_device(const po::variables_map& arguments) {
    std::string name = option_text(arguments, "device");
    Words tables, traces;
    for (const std::string& file : option_texts(arguments, "table")) {
        (is_kineto(file) ? traces : tables).push_back(file);
    }
    const std::vector<HeldCell> holds = read_holds(option_texts(arguments, "hold"));
    Gathered gathered{.sources = read_tables(tables, holds), .studies = {}};
    add_traces(traces, option_texts(arguments, "job"), name, gathered);
    if (name.empty() && gathered.studies.empty())
        throw OptionError("name what to calibrate: --device, or --job of traces");
    if (name.empty()) name = gathered.studies.front().machine.info().device;
    Device device = load_device(name);
    name_passes(device);
    std::vector<ValidationSet> sets;
    for (const std::string& set : option_texts(arguments, "set")) sets.push_back(load_validation_set(set));
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
