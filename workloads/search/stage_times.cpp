#include <algorithm>
#include <memory>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/search/screening.hpp"
#include "workloads/stage/pass_writer.hpp"

namespace weft {
namespace {

class StageReader {
  public:
    StageReader(const Plan& plan, std::uint32_t stage, CallCosts& costs)
        : plan_(plan),
          stage_(plan.stages[stage]),
          index_(stage),
          data_parallel_(plan.job.framework->data_parallel(sharding_input(plan, stage, StepKind::steady))),
          passes_(plan, stage, *data_parallel_, script_),
          clock_(costs, stage, plan.device.interference),
          most_between_(plan.job.pipeline_shape().passes == PassOrder::joint
                            ? 0
                            : std::min(plan.job.layout.pipeline, plan.job.micro_batches())) {}

    StageTimes read() {
        const std::uint32_t last = plan_.job.micro_batches() - 1;
        StageTimes times;
        times.chunks.resize(stage_.chunks.size());
        data_parallel_->begin_step(script_);
        const Seconds begin = lap().time;
        ScriptClock::Reading steady{};
        Seconds first;
        if (last > 0) {
            const bool waits = !has_parameters();
            steady = micro_batch(0, Accumulation::continues, times.chunks);
            if (last > 1 && waits && has_parameters()) {
                first = steady.time;
                const std::vector<BetweenChunks> between = between_;
                steady = micro_batch(1, Accumulation::continues, times.chunks);
                first = first - steady.time + slowed(between, times.chunks);
            }
            times.compute = steady.compute;
            times.exposed = steady.time - steady.compute;
        }
        if (plan_.job.pipeline_shape().passes == PassOrder::joint) join(times);
        std::vector<PartTimes> complete(stage_.chunks.size());
        const ScriptClock::Reading final = micro_batch(last, Accumulation::complete, complete);
        if (last == 0) {
            times.chunks = complete;
            times.compute = final.compute;
            times.exposed = final.time - final.compute;
        }
        finish();
        const ScriptClock::Reading end = lap();
        times.once = begin + first + end.time;
        times.once_compute = end.compute;
        if (last > 0) {
            const Seconds slower = slowed(between_, times.chunks);
            times.once += final.time - steady.time + slower;
            times.once_compute += final.compute - steady.compute + slower;
        }
        return times;
    }

  private:
    // Passes of other micro-batches.
    struct Others {
        std::uint32_t passes = 0;
        Seconds time{};  // of all
    };
    struct BetweenChunks {
        Others forward{}, backward{};
    };

    // Which a first micro-batch may have to wait for, and those after it then have.
    bool has_parameters() const {
        return data_parallel_->idle({.pass = Pass::forward, .where = {}, .chunk = 0, .accumulation = {}});
    }

    // Since the last one.
    ScriptClock::Reading lap() {
        const ScriptClock::Reading now = clock_.read(script_);
        const ScriptClock::Reading lap{now.time - before_.time, now.compute - before_.compute};
        before_ = now;
        return lap;
    }

    // Through all chunks and back. Before it comes to the next chunk, others pass the one before on the way out, and
    // the next one on the way back; what goes on under these is awaited by nobody.
    ScriptClock::Reading micro_batch(std::uint32_t number, Accumulation accumulation, std::vector<PartTimes>& times) {
        ScriptClock::Reading own{};
        const auto pass = [&](double& time) {
            const ScriptClock::Reading now = lap();
            time = now.time.value;
            own.time += now.time;
            own.compute += now.compute;
        };
        between_.assign(stage_.chunks.size(), {});
        const auto chunks = static_cast<std::uint32_t>(stage_.chunks.size());
        for (std::uint32_t c = 0; c < chunks; ++c) {
            const auto forward = [&](std::uint32_t one) { passes_.forward({SlotKind::forward, one, c}); };
            forward(number);
            pass(times[c].forward);
            if (c + 1 < chunks) others_pass(between_[c].forward, number, forward);
        }
        for (std::uint32_t c = chunks; c-- > 0;) {
            const auto backward = [&](std::uint32_t one, Accumulation how) {
                passes_.backward({SlotKind::backward, one, c}, Halves::both, how);
            };
            const auto another = [&](std::uint32_t one) { backward(one, Accumulation::continues); };
            if (c + 1 < chunks) others_pass(between_[c].backward, number, another);
            backward(number, accumulation);
            pass(times[c].backward);
            divide(stage_.chunks[c], times[c]);
        }
        return own;
    }

    // As long as something is in transfer. Each is another micro-batch: passes of one may begin with the end of the
    // pass before, whose time would change after it was read.
    template <class Pass>
    void others_pass(Others& others, std::uint32_t number, Pass pass) {
        const Seconds start = before_.time;
        while (others.passes + 1 < most_between_ && clock_.transfers()) {
            pass((number + ++others.passes) % plan_.job.micro_batches());
            lap();
        }
        others.time = before_.time - start;
    }

    // By how much these were slower than passes are usually.
    static Seconds slowed(const std::vector<BetweenChunks>& between, const std::vector<PartTimes>& usual) {
        double more = 0;
        for (std::size_t c = 0; c < between.size(); ++c) {
            const auto& [forward, backward] = between[c];
            more += std::max(0.0, forward.time.value - forward.passes * usual[c].forward) +
                    std::max(0.0, backward.time.value - backward.passes * usual[c].backward);
        }
        return Seconds{more};
    }

    // Every forward with every backward; a micro-batch passes each part once as one and once as the other.
    void join(StageTimes& times) {
        const auto chunks = static_cast<std::uint32_t>(stage_.chunks.size());
        ScriptClock::Reading sum{};
        for (std::uint32_t ahead = 0; ahead < chunks; ++ahead) {
            for (std::uint32_t behind = 0; behind < chunks; ++behind) {
                passes_.joint({SlotKind::forward, 0, ahead}, {SlotKind::backward, 0, behind}, Accumulation::continues);
                const ScriptClock::Reading both = lap();
                times.joint.push_back(both.time.value);
                sum.time += both.time / chunks;
                sum.compute += both.compute / chunks;
            }
        }
        times.compute = sum.compute;
        times.exposed = sum.time - sum.compute;
    }

    // The weights' gradients are computation alone; what the pass takes beyond them goes to the activations'.
    void divide(const Chunk& chunk, PartTimes& times) const {
        const double losses = 1.0 + plan_.job.model.mtp_layers;
        Seconds weights = chunk.has_head() ? plan_.costs.head_weight_backward * losses : Seconds{};
        weights += plan_.costs.prediction_weight_backward * static_cast<double>(chunk.predictions);
        for (std::uint32_t i = 0; i < chunk.layers; ++i) {
            for (const PieceCost& piece : plan_.costs.layers[plan_.job.layer_place(chunk.first_layer + i)].pieces) {
                weights += piece.weight_backward;
            }
        }
        if (chunk.has_embedding()) weights += plan_.costs.embedding_backward;
        times.weight_backward = std::min(weights.value, times.backward);
        times.input_backward = times.backward - times.weight_backward;
    }

    // As a stage ends its step, without the gradients of norms that sequence parallelism sums over tensor ranks: a few
    // kilobytes.
    void finish() {
        const Framework& framework = *plan_.job.framework;
        if (plan_.job.schedule->copies > 1) {
            const double bytes = framework.gradient_bytes(plan_.job);
            script_.call({.op = Collective::all_reduce,
                          .group = RankGroups::mirror(),
                          .message = {stage_.trained() * bytes},
                          .label = "all-reduce mirrored gradients"},
                         {});
        }
        data_parallel_->finish_gradients(script_);
        data_parallel_->before_optimizer(script_);
        script_.compute("optimizer", stage_.optimizer, {});
        data_parallel_->after_optimizer(script_);
        for (const Call& call : framework.step_end(plan_.job, index_)) script_.call(call, {});
    }

    const Plan& plan_;
    const Stage& stage_;
    std::uint32_t index_;
    Script script_;
    std::unique_ptr<DataParallel> data_parallel_;
    PassWriter passes_;
    ScriptClock clock_;
    ScriptClock::Reading before_{};
    std::uint32_t most_between_;          // micro-batches that pass a chunk before one comes to the next chunk, and it
    std::vector<BetweenChunks> between_;  // of the last micro-batch, by chunk
};

}  // namespace

StageTimes stage_times(const Plan& plan, std::uint32_t stage, CallCosts& costs) {
    return StageReader(plan, stage, costs).read();
}

}  // namespace weft
