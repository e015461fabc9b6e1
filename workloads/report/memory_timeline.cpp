#include "workloads/report/memory_timeline.hpp"

#include <algorithm>

#include "workloads/parallelism/expert_overlap.hpp"
#include "workloads/plan/stage_memory.hpp"

namespace weft {

namespace {

// What is kept of one micro-batch together: between the first and the last operation of the layers [first, end).
struct Holding {
    std::uint32_t first = 0, end = 0;
    Bytes bytes;
};

// A chunk's activations; where passes are joint layer by layer, as the forward of one micro-batch takes the place of
// the backward of another. What stands after the last layer belongs to the chunk before it.
std::vector<Holding> holdings(const Job& job, const Chunk& chunk) {
    const std::uint32_t last = chunk.first_layer + chunk.layers, end = last + (chunk.has_head() ? 1 : 0);
    Holding whole{chunk.first_layer, end, chunk.activations};
    if (expert_overlap(job) != ExpertOverlap::passes) return {whole};
    std::vector<Holding> all;
    for (std::uint32_t i = 0; i < chunk.layers; ++i) {
        const std::uint32_t layer = chunk.first_layer + i;
        all.push_back({layer, layer + 1, kept_activations(job, chunk, i)});
        whole.bytes -= all.back().bytes;
    }
    all.push_back({last, end, chunk.head_activations});
    whole.bytes -= chunk.head_activations;
    all.push_back(whole);
    return all;
}

}  // namespace

std::vector<MemoryPoint> memory_timeline(const Simulation& run, RankClassId id) {
    const Program& program = run.step.program;
    const RankClass& rank_class = program.classes[id];
    const Stage& stage = run.plan.stages[run.step.stage[id]];
    std::vector<std::vector<Holding>> kept;
    for (const Chunk& chunk : stage.chunks) kept.push_back(holdings(run.plan.job, chunk));
    const auto chunk_of = [&](std::uint32_t layer) {
        for (std::size_t c = 0; c < kept.size(); ++c) {
            if (kept[c].back().first <= layer && layer < kept[c].back().end) return c;
        }
        return std::size_t{0};  // a part without layers
    };
    struct Life {
        Instant begin = Instant::never(), end;
        void meet(const Span& span) {
            begin = std::min(begin, span.begin);
            end = std::max(end, span.end);
        }
    };
    const std::uint32_t micro_batches = run.plan.job.micro_batches();
    std::vector<std::vector<std::vector<Life>>> lives;  // of each chunk, its holdings and the micro-batches
    for (const std::vector<Holding>& each : kept) {
        lives.emplace_back(each.size(), std::vector<Life>(micro_batches));
    }
    for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
        const Op& op = program.ops[OpId{i}];
        if (op.kind != OpKind::compute || program.labels[index(op.label)] == "optimizer") continue;
        const std::size_t chunk = chunk_of(op.part);
        for (std::size_t h = 0; h < kept[chunk].size(); ++h) {
            const bool whole = h + 1 == kept[chunk].size();
            const Holding& own = kept[chunk][h];
            if (!whole && (op.part < own.first || op.part >= own.end)) continue;
            lives[chunk][h][op.index].meet(run.timeline.spans[OpId{i}]);
        }
    }
    struct Change {
        Instant at;
        double bytes;
        auto operator<=>(const Change&) const = default;
    };
    std::vector<Change> changes;
    for (std::size_t c = 0; c < kept.size(); ++c) {
        for (std::size_t h = 0; h < kept[c].size(); ++h) {
            for (const Life& life : lives[c][h]) {
                if (life.begin == Instant::never()) continue;  // other micro-batches visit this chunk
                changes.push_back({life.begin, kept[c][h].bytes.value});
                changes.push_back({life.end, -kept[c][h].bytes.value});
            }
        }
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
