#include "workloads/report/memory_timeline.hpp"

#include <algorithm>

#include "workloads/step/lanes.hpp"

namespace weft {

// The chunk that holds a layer; what stands after the last layer belongs to the chunk before.
static std::size_t chunk_of(const Stage& stage, std::uint32_t layer) {
    for (std::size_t c = 0; c < stage.chunks.size(); ++c) {
        const Chunk& chunk = stage.chunks[c];
        const std::uint32_t end = chunk.first_layer + chunk.layers + (chunk.has_head() ? 1 : 0);
        if (chunk.first_layer <= layer && layer < end) return c;
    }
    return 0;  // a part without layers
}

std::vector<MemoryPoint> memory_timeline(const Simulation& run, RankClassId id) {
    const Program& program = run.step.program;
    const RankClass& rank_class = program.classes[id];
    const Stage& stage = run.plan.stages[run.step.stage[id]];
    struct Life {
        Instant begin = Instant::never(), end;
    };
    const std::uint32_t micro_batches = run.plan.job.micro_batches();
    std::vector<Life> lives(stage.chunks.size() * micro_batches);  // of a micro-batch on a chunk
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        const Op& op = program.ops[OpId{i}];
        if (op.kind != OpKind::compute || program.labels[index(op.label)] == "optimizer") continue;
        Life& life = lives[chunk_of(stage, op.part) * micro_batches + op.index];
        life.begin = std::min(life.begin, run.timeline.spans[OpId{i}].begin);
        life.end = std::max(life.end, run.timeline.spans[OpId{i}].end);
    }
    struct Change {
        Instant at;
        double bytes;
        auto operator<=>(const Change&) const = default;
    };
    std::vector<Change> changes;
    for (std::size_t i = 0; i < lives.size(); ++i) {
        if (lives[i].begin == Instant::never()) continue;  // other micro-batches visit this chunk
        const double kept = stage.chunks[i / micro_batches].activations.value;
        changes.push_back({lives[i].begin, kept});
        changes.push_back({lives[i].end, -kept});
    }
    std::ranges::sort(changes);  // at equal instants the end of one comes before the begin of another
    const Bytes steady = stage.memory.total() - stage.memory.activations;
    std::vector<MemoryPoint> points{{Instant{}, steady}};
    Bytes alive;
    for (const auto& [at, bytes] : changes) {
        alive += Bytes{bytes};
        const Bytes in_use = steady + alive;
        if (points.back().at == at) {
            points.back().in_use = in_use;
        } else {
            points.push_back({at, in_use});
        }
    }
    return points;
}

}  // namespace weft
