#include "sim/engine/engine.hpp"

#include "sim/engine/run.hpp"
#include "sim/network/flow_network.hpp"
#include "sim/network/ideal_network.hpp"

namespace weft {
namespace {

template <NetworkModel N>
Timeline simulate_on(const Program& program, const Topology& topology, Recording recording) {
    N network(topology, program.patterns, most_in_flight(program));
    if (recording == Recording::spans) return run(program, topology, network);
    UtilizationRecorder recorder(topology, program.patterns);
    network.record_to(recorder);
    Timeline timeline = run(program, topology, network);
    timeline.samples = recorder.samples(timeline.end);
    return timeline;
}

// No leg reaches the network, so it needs no patterns.
Timeline simulate_free(const Program& program, const Topology& topology) {
    IdealNetwork silent(topology, {});
    Timeline timeline = Engine<IdealNetwork>(program, silent, LegTime::none).run();
    sum_up_links(topology, silent, timeline);
    return timeline;
}

}  // namespace

Timeline simulate(const Program& program, const Topology& topology, NetworkKind kind, Recording recording) {
    switch (kind) {
        case NetworkKind::flow:
            return simulate_on<FlowNetwork>(program, topology, recording);
        case NetworkKind::ideal:
            return simulate_on<IdealNetwork>(program, topology, recording);
        case NetworkKind::free:
            return simulate_free(program, topology);
    }
    throw LogicError("unknown kind of network");
}

}  // namespace weft
