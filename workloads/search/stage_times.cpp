#include "workloads/search/stage_times.hpp"

#include <algorithm>
#include <memory>

#include "workloads/framework/calls.hpp"
#include "workloads/script/script.hpp"
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
          clock_(costs, stage, plan.device.interference) {}

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
                steady = micro_batch(1, Accumulation::continues, times.chunks);
                first = first - steady.time;
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
            times.once += final.time - steady.time;
            times.once_compute += final.compute - steady.compute;
        }
        return times;
    }

  private:
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

    // Through all chunks and back.
    ScriptClock::Reading micro_batch(std::uint32_t number, Accumulation accumulation, std::vector<PartTimes>& times) {
        const ScriptClock::Reading start = before_;
        for (std::uint32_t c = 0; c < stage_.chunks.size(); ++c) {
            passes_.forward({SlotKind::forward, number, c});
            times[c].forward = lap().time.value;
        }
        for (std::uint32_t c = static_cast<std::uint32_t>(stage_.chunks.size()); c-- > 0;) {
            passes_.backward({SlotKind::backward, number, c}, Halves::both, accumulation);
            times[c].backward = lap().time.value;
            divide(stage_.chunks[c], times[c]);
        }
        return {before_.time - start.time, before_.compute - start.compute};
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
                          .message = {stage_.parameters() * bytes},
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
};

}  // namespace

StageTimes stage_times(const Plan& plan, std::uint32_t stage, CallCosts& costs) {
    return StageReader(plan, stage, costs).read();
}

}  // namespace weft
