// `weft replay TRACE... --machine M`: a recorded program on another machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>
#include <string>

#include "sim/base/texts.hpp"
#include "sim/io/files.hpp"
#include "tools/collective/collective.hpp"
#include "tools/command.hpp"
#include "tools/output/timeline_trace.hpp"
#include "tools/page/pages.hpp"
#include "workloads/recorded/reading.hpp"
#include "workloads/recorded/replay.hpp"

namespace weft::commands {
namespace {

std::string command(const po::variables_map& arguments) {
    const std::string traces = fmt::format("replay {}", fmt::join(option_texts(arguments, "traces"), " "));
    return typed_command(traces, arguments,
                         {"background", "compute", "library", "calls", "network", "placement", "routing", "load"});
}

void set_computation(RecordedProgram& program, const std::string& how) {
    if (how == "recorded") return;
    const auto factor = parse_as<double>(how);
    if (!factor) return compute_on(program, load_device(how));
    if (!(std::isfinite(*factor) && *factor >= 0.0)) {
        throw unexpected("compute", "recorded, a factor of at least 0 or a device", how);
    }
    scale_computation(program, *factor);
}

ReplaySetting setting_of(const po::variables_map& arguments, const MachineInfo& machine, std::size_t ranks) {
    const auto nodes = static_cast<std::uint32_t>((ranks - 1) / machine.accelerators_per_node + 1);
    if (nodes > machine.most_nodes) {
        refuse_file(option_text(arguments, "machine"),
                    fmt::format("the traces have {} ranks; its {} nodes hold {}", ranks, machine.most_nodes,
                                std::uint64_t{machine.most_nodes} * machine.accelerators_per_node));
    }
    return {.machine = &machine,
            .library = &library_named(machine, option_text(arguments, "library")),
            .nodes = nodes,
            .network = network_option(arguments),
            .compute = option_text(arguments, "compute")};
}

Answer answer_replay(const po::variables_map& arguments) {
    const std::string page = output_option(arguments, "report", {".html"});
    const std::string trace = output_option(arguments, "trace", {".json", ".json.gz"});
    const auto start = std::chrono::steady_clock::now();
    const Machine machine = Machine::load(option_text(arguments, "machine"));
    RecordedProgram program = read_recorded(option_texts(arguments, "traces"));
    const ReplaySetting setting = setting_of(arguments, machine.info(), program.ranks.size());
    set_computation(program, setting.compute);
    const Topology topology = machine.topology(setting.nodes, fabric_option(arguments, machine.info(), setting.nodes));
    const Meetings meetings = meet(program);
    const Seconds host = calls_option(arguments) == Calls::blocking ? setting.library->blocking : Seconds{};
    const RecordedCosts costs = recorded_costs(program, meetings, topology, *setting.library, host);
    const RecordedRun run = weft::replay(program, meetings, costs, topology, setting.network);
    const ReplaySummary summary = summarize(program, meetings, costs, topology, run);
    const Seconds wall{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
    if (!trace.empty()) write_replay_trace(trace, program, meetings, run);
    if (!page.empty()) {
        write_file_atomically(page, replay_page({program, meetings, costs, run}, summary, setting, command(arguments)));
    }
    return {given(arguments, "json") ? replay_json(summary, setting, wall) : replay_text(summary, setting)};
}

}  // namespace

extern const Command replay{.name = "replay", .run = answer_replay, .group = CommandGroup::run, .is_of_library = true};

}  // namespace weft::commands
