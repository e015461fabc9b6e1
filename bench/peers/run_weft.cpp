#include "bench/peers/runs.hpp"
#include "sim/explicit/message_runner.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"

namespace weft::peers {

Answer run_weft(const Work& work) {
    const Topology topology = testing_support::toy_crossbar(work.ranks, 1, bandwidth, latency);
    const MessageRun run = MessageRunner<MessageProgram>(work.program, work.program.tables, topology).run();
    return {run.time, run.messages};
}

}  // namespace weft::peers
