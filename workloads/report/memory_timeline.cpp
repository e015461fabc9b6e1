#include "workloads/report/memory_timeline.hpp"

#include <algorithm>

#include "workloads/step/lanes.hpp"

namespace weft {

std::vector<MemoryPoint> memory_timeline(const Simulation& run, RankClassId id) {
    const Program& program = run.step.program;
    const RankClass& rank_class = program.classes[id];
    const Stage& stage = run.plan.stages[run.step.stage[id]];
    struct Life {
        Instant begin = Instant::never(), end;
    };
    std::vector<Life> lives(run.plan.job.micro_batches());
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        const Op& op = program.ops[OpId{i}];
        if (op.kind != OpKind::compute || program.labels[index(op.label)] == "optimizer") continue;
        Life& life = lives[op.index];
        life.begin = std::min(life.begin, run.timeline.spans[OpId{i}].begin);
        life.end = std::max(life.end, run.timeline.spans[OpId{i}].end);
    }
    std::vector<std::pair<Instant, int>> changes;
    for (const Life& life : lives) {
        changes.emplace_back(life.begin, 1);
        changes.emplace_back(life.end, -1);
    }
    std::ranges::sort(changes);  // at equal instants the end of one comes before the begin of another
    const Bytes steady = stage.memory.total() - stage.memory.activations;
    std::vector<MemoryPoint> points{{Instant{}, steady}};
    int alive = 0;
    for (const auto& [at, change] : changes) {
        alive += change;
        const Bytes in_use = steady + stage.activations_per_micro_batch * alive;
        if (points.back().at == at) {
            points.back().in_use = in_use;
        } else {
            points.push_back({at, in_use});
        }
    }
    return points;
}

}  // namespace weft
