// torch.distributed.fsdp.FullyShardedDataParallel. A unit's parameters are gathered by one call before
// it computes and its gradients scattered by one call after its backward; all calls of a group run in the order in
// which they were issued, which is what prefetching is about: a gather that is issued after the preceding unit's
// reduce-scatter has to wait for it.
//
// The host runs ahead of the device, so a gather does not wait for the computation before it. The rate limiter makes
// it wait until an earlier unit has been freed once two frees are pending (_FreeEventQueue).
#include <deque>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/fsdp_units.hpp"

namespace weft {
namespace {

constexpr std::size_t most_pending_frees = 2;  // _max_num_inflight_all_gathers

class Fsdp final : public DataParallel {
  public:
    explicit Fsdp(const ShardingInput& input)
        : input_(input),
          units_(fsdp_units(input)),
          unit_of_(units_of_modules(units_, input.modules.size())),
          states_(units_.size()) {}

    void begin_step(Script&) override { frees_.clear(); }

    void begin_pass(Script& script, const PassAt& at) override {
        if (at.pass != Pass::forward) return;
        earliest_ = script.now();  // of gathers: what came before, such as the optimizer, is done
        for (std::size_t u = 0; u < units_.size(); ++u) {
            if (units_[u].kind == UnitKind::root && units_[u].chunk == at.chunk) gather(script, u, at.where);
        }
    }

    void before(Script& script, const PassAt& at, std::size_t index) override {
        const std::size_t u = unit_of_[index];
        gather(script, u, at.where);
        finish(script, u);
        const bool asks = prefetches(input_.fsdp, at.pass) && opens(input_, units_[u], index, at.pass);
        if (asks) gather_following(script, u, at);
    }

    void after(Script& script, const PassAt& at, std::size_t index) override {
        const std::size_t u = unit_of_[index];
        if (at.pass == Pass::forward) {
            // The root's parameters are needed again at once when backward begins.
            const bool last = index == units_[u].modules.back();
            if (last && units_[u].kind == UnitKind::layer && !keeps_parameters(input_.fsdp)) free(script, u);
        } else if (at.pass == Pass::backward && index == units_[u].modules.front()) {
            finish_backward(script, u, at);
        }
    }

    void end_pass(Script& script, const PassAt& at) override {
        if (at.pass == Pass::backward) finish_gradients(script);
    }

    void finish_gradients(Script& script) override { script.finish(reductions_); }

    // Assumption: gradients are clipped (clip_grad_norm_) and fp16 runs under ShardedGradScaler; where a replica has
    // several ranks both also go over these.
    void before_optimizer(Script& script) override {
        std::vector<RankGroups> groups{copy_axes()};
        if (input_.model_ranks > 1) groups.emplace_back(part_axes());
        reduce_overflow_and_norm(script, input_, groups);
    }

  private:
    struct State {
        bool resident = false;
        ActionId gather = Action::none;  // in flight
    };

    bool reduces(const PassAt& at) const {
        return input_.fsdp.accumulate != Accumulate::step || at.accumulation == Accumulation::complete;
    }

    void gather(Script& script, std::size_t u, Where where) {
        State& state = states_[u];
        if (state.resident || state.gather != Action::none) return;
        const FsdpUnit& unit = units_[u];
        if (unit.ranks == 1) {
            state.resident = true;
            return;
        }
        ActionId after = earliest_;
        if (input_.fsdp.limit_all_gathers == Setting::on && frees_.size() >= most_pending_frees) {
            after = frees_.front();
            frees_.pop_front();
        }
        state.gather = script.issue({Collective::all_gather,
                                     unit.group,
                                     {unit.elements * input_.element_bytes},
                                     "all-gather parameters",
                                     input_.element_type},
                                    where, after);
    }

    void finish(Script& script, std::size_t u) {
        State& state = states_[u];
        if (state.gather == Action::none) return;
        script.wait(state.gather);
        state = {.resident = true};
    }

    // The unit that the pass comes to next.
    void gather_following(Script& script, std::size_t u, const PassAt& at) {
        const bool forward = at.pass == Pass::forward;
        for (std::size_t next = u; forward ? next + 1 < units_.size() : next > 0;) {
            next = forward ? next + 1 : next - 1;
            if (units_[next].kind == UnitKind::root || units_[next].chunk != units_[u].chunk) continue;
            gather(script, next, at.where);
            return;
        }
    }

    void free(Script& script, std::size_t u) {
        states_[u].resident = false;
        frees_.push_back(script.now());
    }

    void finish_backward(Script& script, std::size_t u, const PassAt& at) {
        if (reduces(at) || !keeps_parameters(input_.fsdp)) free(script, u);
        if (input_.fsdp.backward_prefetch == BackwardPrefetch::after) gather_following(script, u, at);
        if (reduces(at)) reduce(script, u, at.where);
    }

    // The gradient of a unit; where it is sharded inside groups, the shard is then summed over the groups. A group of
    // one rank does not shard (NO_SHARD) and all-reduces.
    void reduce(Script& script, std::size_t u, Where where) {
        const FsdpUnit& unit = units_[u];
        const double size = input_.fsdp.reduce_bytes > 0 ? input_.fsdp.reduce_bytes : input_.element_bytes;
        Call call{unit.ranks == 1 ? Collective::all_reduce : Collective::reduce_scatter,
                  unit.group,
                  {unit.elements * size},
                  unit.ranks == 1 ? "all-reduce gradients" : "reduce-scatter gradients",
                  size == input_.element_bytes ? input_.element_type
                  : size == 4                  ? "fp32"
                                               : input_.gradient_type};
        ActionId last = script.issue(call, where, script.now());
        if (unit.group == RankGroups::inner(copy_axes())) {
            call.op = Collective::all_reduce;
            call.group = RankGroups::outer({"data"});
            call.message = call.message / unit.ranks;
            call.label = "all-reduce gradient shards";
            last = script.issue(call, where, last);
        }
        reductions_.push_back(last);
    }

    ShardingInput input_;
    std::vector<FsdpUnit> units_;
    std::vector<std::size_t> unit_of_;  // of each module
    std::vector<State> states_;         // of each unit
    std::deque<ActionId> frees_;        // computations after which units were freed, and no gather has waited for
    std::vector<ActionId> reductions_;  // in flight
    ActionId earliest_ = Action::none;
};

}  // namespace

std::unique_ptr<DataParallel> make_fsdp(const ShardingInput& input) { return std::make_unique<Fsdp>(input); }

}  // namespace weft
