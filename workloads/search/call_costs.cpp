#include "workloads/search/screening.hpp"

#include <algorithm>

#include "workloads/framework/framework.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/stage/pass_writer.hpp"

namespace weft {

CallCosts::CallCosts(const Topology& topology, Library library)
    : topology_(topology), library_(std::move(library)), planner_(std::make_unique<ChannelPlanner>(topology)) {}

// Where nodes differ, channels depend on the groups that were laid before: every layout then starts afresh.
void CallCosts::lay_out(const Layout& layout) {
    layout_.virtual_stages = layout.virtual_stages;  // on which no group depends
    if (topology_.node_links > 0 && layout_ == layout) return;
    layout_ = layout;
    laid_.clear();
    if (topology_.node_links > 0) return;
    known_.clear();
    planner_ = std::make_unique<ChannelPlanner>(topology_);
}

// Those of the call's stage with a rank on the node of the stage's first rank, that are as large.
CallCosts::Groups CallCosts::groups(const Call& call, std::uint32_t stage) const {
    const RankGrid grid = layout_.grid();
    const std::vector<RankId> ranks = grid.slice("pipeline", stage);
    const auto node = [&](RankId rank) { return index(rank) / topology_.ranks_per_node; };
    const std::uint32_t stride = grid.stride("pipeline");
    Groups found;
    std::vector<RankId> seen;
    for (const RankId rank : ranks) {
        if (node(rank) != node(ranks.front())) continue;
        if (call.crosses_boundary()) {
            const auto other = static_cast<std::uint32_t>(rank) - stage * stride + call.peer * stride;
            found.push_back({rank, RankId{other}});
            continue;
        }
        if (std::ranges::find(seen, rank) != seen.end()) continue;
        std::vector<RankId> members = PlacedGroups(call.group, layout_).members(rank);
        seen.insert(seen.end(), members.begin(), members.end());
        if (found.empty() || found.front().size() == members.size()) found.push_back(std::move(members));
    }
    return found;
}

CallCosts::Group& CallCosts::find(const Call& call, std::uint32_t stage) {
    const bool crosses = call.crosses_boundary();
    // Groups of one kind have the same places on every stage, but for boundaries inside a node and between nodes.
    const std::uint32_t stride = crosses ? layout_.grid().stride("pipeline") : 0;
    const bool leaves =
        crosses && stage * stride / topology_.ranks_per_node != call.peer * stride / topology_.ranks_per_node;
    const std::uint32_t far = crosses ? (std::max(stage, call.peer) - std::min(stage, call.peer)) : 0;
    Group*& laid = laid_[{call.group, far, leaves}];
    if (laid != nullptr) return *laid;
    Groups members = groups(call, stage);
    const auto [it, fresh] = known_.try_emplace(std::move(members));
    laid = &it->second;
    if (!fresh) return *laid;
    const Groups& all = it->first;
    const GroupShape shape = shape_of(topology_, all.front());
    std::vector<std::size_t> equal;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const GroupShape own = shape_of(topology_, all[i]);
        if (own == shape) equal.push_back(i);
    }
    laid->costs = std::make_unique<GroupCosts>(topology_, library_, shape, [this, &all, equal](Order order) {
        std::vector<Communicator> communicators;
        for (const std::size_t i : equal) communicators.push_back(planner_->lay(all[i], order));
        return communicators;
    });
    return *laid;
}

Seconds CallCosts::time(const Call& call, std::uint32_t stage) {
    Group& group = find(call, stage);
    if (group.costs->shape().members < 2) return {};
    const auto [it, fresh] = group.times.try_emplace({call.op, call.message.value});
    if (fresh) it->second = group.costs->idle_time(group.costs->require(call.op, call.message), call.message);
    return it->second;
}

ScriptClock::ScriptClock(CallCosts& costs, std::uint32_t stage, double interference)
    : costs_(costs), stage_(stage), interference_(interference) {}

// Slower while something is in transfer.
double ScriptClock::compute(double duration) const {
    const double contended = std::max(busy_ - chain_, 0.0);
    const double slow = duration * interference_;
    if (slow <= contended) return chain_ + slow;
    return chain_ + contended + duration - contended / interference_;
}

double ScriptClock::call(const Call& call, double ready, double duration) {
    double& free = free_from_[call.group];
    const double end = std::max(ready, free) + duration;
    if (duration > 0) busy_ = std::max(busy_, end);
    return free = end;
}

ScriptClock::Reading ScriptClock::read(const Script& script) {
    const std::vector<Action>& actions = script.actions();
    for (std::size_t i = durations_.size(); i < script.calls().size(); ++i) {
        durations_.push_back(costs_.time(script.calls()[i], stage_).value);
    }
    for (std::size_t i = end_.size(); i < actions.size(); ++i) {
        const Action& action = actions[i];
        const auto ready = [&] { return action.after == Action::none ? 0.0 : end_[action.after]; };
        switch (action.kind) {
            case Action::Kind::compute: {
                const double end = compute(script.work()[action.subject].value);
                computed_ += end - chain_;
                chain_ = end;
                break;
            }
            case Action::Kind::call:
                chain_ = call(script.calls()[action.subject], chain_, durations_[action.subject]);
                break;
            case Action::Kind::issue:
                end_.push_back(call(script.calls()[action.subject], ready(), durations_[action.subject]));
                continue;
            case Action::Kind::launch:
                host_ = std::max(host_, ready()) + script.work()[action.subject].value;
                end_.push_back(host_);
                continue;
            case Action::Kind::store:
            case Action::Kind::load: {
                double& free = action.kind == Action::Kind::store ? stored_ : loaded_;
                free = std::max(free, ready()) + script.work()[action.subject].value;
                end_.push_back(free);
                continue;
            }
            case Action::Kind::wait:
                chain_ = std::max(chain_, end_[action.subject]);
                break;
            case Action::Kind::join:
                break;
        }
        end_.push_back(chain_);
    }
    return {{chain_}, {computed_}};
}

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
};

}  // namespace

StageTimes stage_times(const Plan& plan, std::uint32_t stage, CallCosts& costs) {
    return StageReader(plan, stage, costs).read();
}

}  // namespace weft
