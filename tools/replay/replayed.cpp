#include "tools/replay/replayed.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <string>

#include "sim/base/texts.hpp"
#include "tools/collective/options.hpp"
#include "tools/options.hpp"
#include "workloads/recorded/computation.hpp"
#include "workloads/recorded/reading.hpp"

namespace weft {
namespace {

void set_computation(RecordedProgram& program, const std::string& how) {
    if (how == "recorded") return;
    const auto factor = parse_as<double>(how);
    if (!factor) return compute_on(program, load_device(how));
    if (!(std::isfinite(*factor) && *factor >= 0.0)) {
        throw po::error(
            fmt::format("--compute: expected recorded, a factor of at least 0 or a device, got \"{}\"", how));
    }
    scale_computation(program, *factor);
}

}  // namespace

ReplayedTraces replay_traces(const po::variables_map& arguments) {
    const auto start = std::chrono::steady_clock::now();
    const std::string name = arguments["machine"].as<std::string>();
    ReplayedTraces done{.machine = std::make_unique<const Machine>(Machine::load(name))};
    const MachineInfo& info = done.machine->info();
    done.setting = {.machine = &info,
                    .library = &library_named(info, option_text(arguments, "library")),
                    .network = network_option(arguments),
                    .compute = option_text(arguments, "compute")};
    ReplaySetting& setting = done.setting;
    done.program = read_recorded(option_texts(arguments, "traces"));
    const auto ranks = static_cast<std::uint32_t>(done.program.ranks.size());
    setting.nodes = (ranks - 1) / info.accelerators_per_node + 1;
    if (setting.nodes > info.most_nodes) {
        refuse_file(name, fmt::format("the traces have {} ranks; its {} nodes hold {}", ranks, info.most_nodes,
                                      std::uint64_t{info.most_nodes} * info.accelerators_per_node));
    }
    set_computation(done.program, setting.compute);
    const Topology topology = done.machine->topology(setting.nodes, fabric_option(arguments, info, setting.nodes));
    done.meetings = meet(done.program);
    const Seconds host = calls_option(arguments) == Calls::blocking ? setting.library->blocking : Seconds{};
    done.costs = recorded_costs(done.program, done.meetings, topology, *setting.library, host);
    done.run = replay(done.program, done.meetings, done.costs, topology, setting.network);
    done.summary = summarize(done.program, done.meetings, done.costs, topology, done.run);
    done.wall = Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
    return done;
}

}  // namespace weft
