#include "tools/calibrate/device_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "sim/io/diagnostics.hpp"
#include "tools/collective/collective.hpp"
#include "tools/command.hpp"
#include "topologies/blocks/block.hpp"
#include "workloads/recorded/kineto_trace.hpp"
#include "workloads/recorded/measured_calls.hpp"
#include "workloads/recorded/reading.hpp"

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

// The collectives of one step, of all ranks that have a trace: what the device took, with no part of the host.
void add_calls(const Words& traces, const MachineInfo& machine, const std::vector<HeldCell>& holds,
               MeasuredRows& result) {
    MeasuredCalls calls = measured_calls(read_recorded(traces), machine);
    std::string file = std::filesystem::path(traces.front()).filename().string();
    if (traces.size() > 1) file += fmt::format(" and {} more", traces.size() - 1);
    for (const std::string& why : calls.skipped) fmt::print(stderr, "{}: skipped: {}\n", file, why);
    if (calls.incomplete > 0) {
        fmt::print(stderr,
                   "{}: of {} of {} kinds of calls not all ranks have a trace: the shortest call of each counts, which "
                   "may have waited for another rank\n",
                   file, calls.incomplete, calls.rows.size());
    }
    for (CollectiveMeasurement& row : calls.rows) {
        if (std::string wrong = place(row, machine); !wrong.empty()) refuse_file(file, std::move(wrong));
        const bool held = is_held(row, holds);
        result.rows.push_back({.measured = std::move(row), .is_held = held});
        result.files.push_back(file);
    }
    if (calls.rows.empty()) refuse_file(file, "has no collective of several ranks");
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

}  // namespace

TracesAndTables traces_and_tables(const po::variables_map& arguments) {
    TracesAndTables files;
    for (const std::string& file : option_texts(arguments, "table")) {
        (is_kineto(file) ? files.traces : files.tables).push_back(file);
    }
    return files;
}

MeasuredRows measured_rows(const po::variables_map& arguments, const Machine& machine, const Library& library) {
    const MeasurementHints hints = hints_of(arguments);
    const std::vector<HeldCell> holds = read_holds(arguments);
    const Seconds blocking = calls_option(arguments) == Calls::blocking ? library.blocking : Seconds{};
    MeasuredRows result;
    std::vector<Diagnostic> errors;
    auto [traces, tables] = traces_and_tables(arguments);
    if (!traces.empty()) add_calls(traces, machine.info(), holds, result);
    for (const std::string& file : tables) {
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
            result.rows.push_back({.measured = std::move(row), .blocking = blocking, .is_held = held});
            result.files.push_back(std::filesystem::path(file).filename().string());
        }
    }
    if (!errors.empty()) throw ConfigError(std::move(errors));
    if (std::ranges::all_of(result.rows, [](const CalibrationRow& row) { return row.is_held; })) {
        throw OptionError("--hold: no row is left to fit");
    }
    return result;
}

}  // namespace weft
