#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <span>
#include <stdexcept>

#include "sim/io/diagnostics.hpp"
#include "tests/fuzz/further.hpp"
#include "tests/fuzz/inputs.hpp"
#include "tests/workloads/formats/seeds.hpp"
#include "topologies/machine.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/recorded/measured_calls.hpp"
#include "workloads/recorded/reading.hpp"
#include "workloads/recorded/recorded_step.hpp"
#include "workloads/recorded/replay.hpp"

namespace weft::test {
namespace {

// What fits together runs to its end, and every rank's time adds up to it.
void replay_trace(std::span<const SourceFile> files) {
    static const Machine machine = Machine::load("dgx-h100");
    static const Topology topology = machine.topology(1);
    const RecordedProgram program = read_recorded(files);
    for (const CollectiveMeasurement& row : measured_calls(program, machine.info()).rows) {
        if (!(row.time > Seconds{}) || row.ranks < 2 || row.nodes < 1) throw std::logic_error("no measurement");
    }
    if (program.ranks.size() > topology.ranks) return;
    const Meetings meetings = meet(program);
    const RecordedCosts costs = recorded_costs(program, meetings, topology, machine.info().library());
    const RecordedRun run = replay(program, meetings, costs, topology, NetworkKind::flow);
    summarize(program, meetings, costs, topology, run);
    for (const ActivityTimes& times : run.ranks) {
        const double sum = std::accumulate(times.begin(), times.end(), Seconds{}).value,
                     whole = since_start(run.over).value;
        if (!(std::abs(sum - whole) <= 1e-9 * whole)) throw std::logic_error("the times of a rank are not the step");
    }
}

// What a device was busy with and what it waited for add up to the step.
void read_profile(const std::string& text) {
    const KinetoTrace trace = read_kineto(ByteSource("trace.json", text));
    const RecordedStep step = recorded_step(trace, 2);
    std::int64_t sum = step.gaps.sum();
    for (const RecordedKernel& kernel : step.kernels) {
        const DeviceEvent& event = trace.kernels[kernel.event];
        sum += kernel.exposed;
        if (kernel.beside < 0 || kernel.beside > event.end - event.begin) throw std::logic_error("beside itself");
    }
    if (sum != step.duration()) throw std::logic_error("kernels and gaps are not the step");
}

void read_foreign(const Format& format, const std::string& path, const std::string& text) {
    const std::array files{SourceFile{path, text}};
    find_format(files.front());
    const Import import = import_files(format, files, seed_options());
    if (import.has_errors()) return;
    switch (import.kind) {
        case FormatKind::job:
            return go_on_with(read_study(import.object.document(path), Purpose::simulation, sources_of_case()));
        case FormatKind::machine:
            return read_machine(import.object.json());
        case FormatKind::model:
            return read_model(import.object.json());
        case FormatKind::trace:
            if (format.name == "kineto") read_profile(text);
            return replay_trace(files);
    }
}

}  // namespace

std::vector<InputKind> foreign_inputs() {
    std::vector<InputKind> kinds;
    for (const FormatSeed& seed : format_seeds()) {
        const std::string ending = std::filesystem::path(seed.file.path).extension().string();
        kinds.push_back({std::string(seed.format->name) + ending,
                         ending == ".json" ? Syntax::json : Syntax::text,
                         {seed.file.text},
                         [format = seed.format, name = seed.file.path](const std::string& text) {
                             read_foreign(*format, name, text);
                         }});
    }
    std::ranges::sort(kinds, {}, &InputKind::name);
    return kinds;
}

}  // namespace weft::test
