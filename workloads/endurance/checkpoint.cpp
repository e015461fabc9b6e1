#include "workloads/endurance/checkpoint.hpp"

#include <algorithm>

#include "workloads/plan/stage_memory.hpp"

namespace weft {

CheckpointCosts checkpoint_costs(const Plan& plan, const StorageFigures& storage) {
    const Job& job = plan.job;
    const double ranks = job.layout.ranks_of_stage();
    CheckpointCosts costs;
    for (const Stage& stage : plan.stages) {
        const double different =  // parameters that the stage's ranks hold between them
            stage.dense * (ranks / job.layout.copies()) + stage.expert * (ranks / job.layout.expert_data());
        const Bytes states = optimizer_states(job, stage), rank = stage.memory.parameters + states;
        costs.written +=
            Bytes{different * element_bytes(job.precision)} + states * (different / updated_parameters(job, stage));
        costs.read += rank * ranks;
        costs.rank = std::max(costs.rank, rank);
    }
    const double nics = plan.machine.nics_per_node;
    const Bytes node = costs.rank * static_cast<double>(job.ranks_per_node);
    const auto through = [&](Bytes all, BytesPerSecond file_system) {
        const Seconds stored = all / file_system;
        return nics > 0 ? std::max(stored, node / (plan.machine.nic * nics)) : stored;
    };
    costs.write = through(costs.written, storage.write);
    costs.load = through(costs.read, storage.read);
    return costs;
}

}  // namespace weft
