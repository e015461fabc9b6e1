#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "sim/base/texts.hpp"
#include "sim/io/diagnostics.hpp"
#include "sim/io/files.hpp"
#include "tools/command.hpp"
#include "tools/parallel.hpp"
#include "workloads/formats/job_file.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/recorded/simulated_work.hpp"
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
    if (arguments["fit"].defaulted())
        return list_of_those<DeviceConstant>(all, [](const auto& each) { return !each.is_asked_for; });
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
    return list_of_those<DeviceConstant>(all, [&](const DeviceConstant& constant) {
        return std::ranges::any_of(names, [&](std::string_view name) { return is_called(constant, name); });
    });
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

// Recorded steps as measurements of a device.

// A step counts as so many kernels measured alone, each class by its share of the time: it is steps that are predicted.
constexpr double weight_of_step = 100;

enum class Told : std::uint8_t { work, between, host_forward, host_backward, interference };

struct TraceRow {
    Told told{};
    WorkPass pass{};
    WorkClass what{};
};

double seconds(std::int64_t femtoseconds) { return since_start({femtoseconds}).value; }

bool tells(const ComparedWork& work, std::int64_t step) {
    constexpr double least_share = 0.005, shortest = 10e-6;
    const WorkClass what = work.key.what;
    const bool is_rate = what < WorkClass::communication && what != WorkClass::other_products;
    if (!is_rate || work.kernels[0] <= 0 || work.femtoseconds[1] <= 0) return false;
    const double time = seconds(work.femtoseconds[0]);
    return time > least_share * seconds(step) && time / work.kernels[0] > shortest;
}

// What the work of a step takes on a device, in the order of the rows; of interference, a factor.
std::vector<double> predicted(const Study& study, std::uint32_t stage, const Device& device,
                              const std::vector<TraceRow>& rows) {
    Study changed = study;
    changed.device = device;
    const Plan plan = make_plan(changed);
    const SimulatedWork work = simulated_work(plan, stage, WorkDetail::times);
    std::vector<double> values;
    for (const TraceRow& row : rows) {
        Seconds sum = row.told == Told::between ? plan.device.kernel_launch : Seconds{};
        if (row.told == Told::interference) sum = Seconds{plan.device.interference};
        if (row.told == Told::host_forward) sum = work.host_forward;
        if (row.told == Told::host_backward) sum = work.host_backward;
        for (const auto& [key, own] : work.sums) {
            const bool is_of_row = row.told == Told::work && key.pass == row.pass;
            if (is_of_row && work.compared(key.what) == row.what) sum += own.time;
        }
        values.push_back(sum.value);
    }
    return values;
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

DeviceFitSource trace_source(const Study& study, const StepComparison& found) {
    DeviceFitSource source;
    std::vector<TraceRow> rows;
    const std::string file = std::filesystem::path(found.trace).filename().string();
    const auto add = [&](TraceRow row, std::string kind, double measured, double weight) {
        rows.push_back(row);
        source.rows.push_back({.kind = std::move(kind),
                               .where = fmt::format("{}:{}", file, found.recorded.name),
                               .measured = measured,
                               .weight = weight});
    };
    std::int64_t busy = 0, late = 0, beside = 0;
    // Of the time beside communication, what it would not have taken alone.
    const double slower = found.recorded.slow_down > 0 ? 1.0 - 1.0 / found.recorded.slow_down : 0.0;
    for (const ComparedWork& work : found.classes) busy += work.femtoseconds[0];
    for (const ComparedWork& work : found.classes) {
        if (!tells(work, found.duration[0])) continue;
        add({Told::work, work.key.pass, work.key.what}, fmt::format("{}, {}", name(work.key.what), name(work.key.pass)),
            seconds(work.femtoseconds[0]) - slower * seconds(work.beside),
            weight_of_step * static_cast<double>(work.femtoseconds[0]) / static_cast<double>(busy));
        beside += work.beside;
    }
    if (found.recorded.slow_down > 0 && beside > 0) {
        add({Told::interference, {}, {}}, "times as long beside communication", found.recorded.slow_down,
            weight_of_step * static_cast<double>(beside) / static_cast<double>(busy));
    }
    for (const ComparedGap& gap : found.gaps) late += gap.is_of_host ? gap.femtoseconds[0] : 0;
    const auto add_one = [&](Told told, const char* kind, std::int64_t measured, std::int64_t simulated) {
        if (measured > 0 && simulated > 0) add({told, {}, {}}, kind, seconds(measured), 1.0);
    };
    // A kernel that the host launches in time follows at once; others wait for their launch to arrive. What the host
    // takes shows where the device waits for it.
    constexpr double seldom = 0.1;
    if (seconds(late) < seldom * seconds(found.duration[0])) {
        add_one(Told::between, "between kernels", found.between, found.between);
    } else {
        add_one(Told::host_forward, "host, a layer forward", found.host_forward[0], found.host_forward[1]);
        add_one(Told::host_backward, "host, a layer backward", found.host_backward[0], found.host_backward[1]);
    }
    source.predict = [study, stage = found.stage, rows = std::move(rows)](const Device& device) {
        return predicted(study, stage, device, rows);
    };
    return source;
}

bool is_told_by_steps(const DeviceConstant& constant, const Study& study) {
    constexpr std::string_view always[] = {"gemm_plateau", "kernel_launch", "host_launch", "interference"};
    const bool fuses = study.job.modules == ModuleCode::framework || study.job.compile != Compile::off;
    if (constant.name == "memory_efficiency") return fuses;
    if (std::ranges::find(always, constant.name) != std::end(always)) return true;
    if (constant.name == "gemm_eighth_plateau") return is_narrow(study.job.precision);
    const AttentionCurve &own = study.device.attention_cudnn, &flash = study.device.attention;
    const bool has_own = own.forward != flash.forward || own.backward != flash.backward;
    const bool is_cudnn =
        study.job.attention == AttentionCore::cudnn || study.job.attention == AttentionCore::cudnn_9_13;
    const std::string_view core = is_cudnn && has_own ? "attention_cudnn" : "attention";
    return constant.name == fmt::format("{}_forward", core) || constant.name == fmt::format("{}_backward", core) ||
           constant.name.starts_with("pass_");
}

}  // namespace weft
