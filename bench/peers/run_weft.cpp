#include "bench/peers/runs.hpp"
#include "sim/explicit/message_runner.hpp"

namespace weft::peers {

Answer run_weft(const Work& work) {
    const Topology topology = testing_support::toy_racks(work.ranks, work.racks, work.latency);
    const MessageRun run = MessageRunner<MessageProgram>(work.program, work.program.tables, topology).run();
    return {run.time, run.messages};
}

}  // namespace weft::peers
