// torch.distributed.fsdp.fully_shard (FSDP2), as torchtitan applies it: torch/distributed/fsdp/_fully_shard of PyTorch
// 2.9 (_fsdp_param_group.py, _fsdp_collectives.py) and torchtitan models/llama3/infra/parallelize.py (apply_fsdp).
//
// Each tensor is gathered padded and copied out of the common buffer by the stream that computes; its gradient is
// copied into the buffer that is scattered, for which that stream waits until the scatter before is done. A gather
// starts no earlier than the copies that the stream of gathers has been told to wait for: forward those of the unit
// before the last, as the last buffer is kept while the next one is filled, backward those of the last. The copy of a
// shard into the buffer that is gathered has a stream of its own and is left out: 10 bytes of an element of 1 / ranks.
//
// Megatron-FSDP (core/distributed/custom_fsdp of Megatron-core 0.12, since 0.14 Megatron-FSDP) does the same with flat
// units of version 1, whose buffers its modules read and write themselves, so that nothing is copied, and waits for its
// scatters at the end of the step.
//
// Stages of a pipeline (torch/distributed/pipelining/stage.py, backward_maybe_with_nosync) neither reduce gradients nor
// shard parameters again in backward passes; after the last one they reduce all units of the part in order.

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/fsdp_units.hpp"

namespace weft {
namespace {

class FullyShard final : public DataParallel {
  public:
    explicit FullyShard(const ShardingInput& input)
        : input_(input),
          units_(fsdp_units(input)),
          unit_of_(units_of_modules(units_, input.modules.size())),
          states_(units_.size()) {}

    void begin_step(Script& script) override {
        gate_ = script.now();
        copied_out_ = Action::none;
        reduced_.assign(units_.size(), false);
    }

    void before(Script& script, const PassAt& at, std::size_t index) override {
        const std::size_t u = unit_of_[index];
        gather(script, u, at.where);
        finish(script, u, at);
        if (!opens(input_, units_[u], index, at.pass)) return;
        if (input_.sharing_experts > 1 && composes()) {
            gather_layer_following(script, u, at);
        } else if (prefetches(input_.fsdp, at.pass)) {
            gather_following(script, u, at);
        }
    }

    void after(Script& script, const PassAt& at, std::size_t index) override {
        const std::size_t u = unit_of_[index];
        if (at.pass == Pass::forward && index == units_[u].modules.back() && reshards_after_forward(u)) {
            states_[u] = {.spread = input_.fsdp.reshard == Reshard::over_few ? Spread::few : Spread::all};
        }
        if (at.pass != Pass::backward || index != units_[u].modules.front()) return;
        if (!in_pipeline() || (reshards() && accumulates() == Accumulate::never)) states_[u] = {};
        if (!reduces_at_end() && reduces(at)) reduce(script, u, at.where);
    }

    // The last buffer of a forward pass is let go at its end.
    void end_pass(Script& script, const PassAt& at) override {
        if (at.pass == Pass::forward && copied_out_ != Action::none) gate_ = copied_out_;
        copied_out_ = Action::none;
        if (at.pass != Pass::backward || !reduces(at)) return;
        for (std::size_t u = 0; u < units_.size(); ++u) {
            if (units_[u].chunk != at.chunk) continue;
            if (in_pipeline() && at.accumulation == Accumulation::complete) states_[u] = {};
            if (reduces_at_end()) reduce(script, u, at.where);
        }
        if (composes()) finish_gradients(script);  // _root_post_backward_final_callback
    }

    // Once a stage of a pipeline has its parameters, and until it reduces their gradients.
    bool idle(const PassAt& at) const override {
        if (!in_pipeline() || reshards() || (at.pass == Pass::backward && reduces(at))) return false;
        for (std::size_t u = 0; u < units_.size(); ++u) {
            if (units_[u].chunk == at.chunk && states_[u].spread != Spread::whole) return false;
        }
        return true;
    }

    void finish_gradients(Script& script) override {
        script.finish(reductions_);
        scattered_ = Action::none;
    }

    // clip_grad_norm_ of torchtitan (distributed/utils.py): a norm is summed over one dimension of the mesh after the
    // other, those of experts apart, then over stages. fp16 needs a scaler, which looks for overflows first.
    void before_optimizer(Script& script) override {
        const bool hybrid = hybrid_sharding(input_);
        std::vector<RankGroups> groups;
        const auto add = [&](std::uint32_t ranks, RankGroups group) {
            if (ranks > 1) groups.push_back(group);
        };
        add(input_.ranks, hybrid ? RankGroups::inner(copy_axes()) : copy_axes());
        add(input_.tensor_ranks, RankGroups{"tensor"});
        if (input_.sharing_experts > 1) {
            hybrid ? add(input_.expert_inner_ranks, RankGroups::inner({"expert_data"}))
                   : add(input_.expert_ranks, RankGroups{"expert_data"});
            groups.push_back(RankGroups{"expert"});
            const std::uint32_t stage_ranks = input_.ranks * input_.tensor_ranks;
            add(stage_ranks / (input_.expert_ranks * input_.sharing_experts), RankGroups{"expert_tensor"});
        }
        add(input_.stages, RankGroups{"pipeline"});
        reduce_overflow_and_norm(script, input_, groups);
    }

  private:
    // Where a unit's parameters are: on all ranks of its group in shards, on few of them, or whole on each.
    enum class Spread : std::uint8_t { all, few, whole };
    struct State {
        Spread spread = Spread::all;
        ActionId gather = Action::none;  // in flight
    };

    bool composes() const { return input_.fsdp.version == 2; }  // else Megatron-FSDP
    bool in_pipeline() const { return input_.stages > 1; }
    bool reshards() const { return reshards_layers(input_.fsdp, input_.stages); }
    // The head is needed again at once.
    bool reshards_after_forward(std::size_t u) const {
        const UnitKind kind = units_[u].kind;
        if ((units_[u].ranks == 1 && !is_alone(units_[u])) || kind == UnitKind::root) return false;
        return reshards() && (kind != UnitKind::head || input_.fsdp.reshard == Reshard::always);
    }
    bool reduces_at_end() const { return in_pipeline() && input_.fsdp.accumulate == Accumulate::by_version; }
    Accumulate accumulates() const { return accumulation_of(input_.fsdp, input_.stages); }
    bool reduces(const PassAt& at) const {
        const bool pauses = at.accumulation == Accumulation::pauses && accumulates() == Accumulate::round;
        return accumulates() == Accumulate::never || pauses || at.accumulation == Accumulation::complete;
    }
    // Gradients of more than one micro-batch are summed in the type in which they are reduced.
    double summed_bytes() const { return accumulates() == Accumulate::never ? input_.element_bytes : reduced_bytes(); }
    double reduced_bytes() const {
        return input_.fsdp.reduce_bytes > 0 ? input_.fsdp.reduce_bytes : input_.element_bytes;
    }
    std::string_view type_of(double bytes) const {
        if (bytes == input_.element_bytes) return input_.element_type;
        return bytes == 4 ? "fp32" : input_.gradient_type;
    }

    void gather(Script& script, std::size_t u, Where where) {
        State& state = states_[u];
        if (state.spread == Spread::whole || state.gather != Action::none) return;
        const FsdpUnit& unit = units_[u];
        if (unit.ranks == 1) {
            state.spread = Spread::whole;
            if (is_alone(unit)) {
                const double bytes = 4 + 3 * input_.element_bytes;
                copy(script, "cast and copy parameters", unit.elements * bytes, where, PassClass::element_wise);
            }
            return;
        }
        state.gather = script.issue({Collective::all_gather,
                                     state.spread == Spread::few ? RankGroups::inner(copy_axes()) : unit.group,
                                     {unit.elements * input_.element_bytes},
                                     "all-gather parameters",
                                     input_.element_type},
                                    where, gate_);
    }

    void finish(Script& script, std::size_t u, const PassAt& at) {
        State& state = states_[u];
        if (state.gather == Action::none) return;
        script.wait(state.gather);
        state = {.spread = Spread::whole};
        copy(script, "copy out parameters", units_[u].elements * 2 * input_.element_bytes, at.where);
        if (at.pass != Pass::forward) {
            gate_ = script.now();
            return;
        }
        if (copied_out_ != Action::none) gate_ = copied_out_;
        copied_out_ = script.now();
    }

    // Of what is read and written.
    void copy(Script& script, std::string_view label, double bytes, Where where,
              PassClass pass = PassClass::fused) const {
        if (input_.device != nullptr) script.compute(label, pass_time(*input_.device, {bytes}, pass), where);
    }

    // The unit that the pass comes to next.
    void gather_following(Script& script, std::size_t u, const PassAt& at) {
        const bool forward = at.pass == Pass::forward;
        for (std::size_t next = u; forward ? next + 1 < units_.size() : next > 0;) {
            next = forward ? next + 1 : next - 1;
            if (units_[next].forward_alone && !forward) continue;
            if (units_[next].chunk == units_[u].chunk) return gather(script, next, at.where);
        }
    }

    // Where ranks share experts, torchtitan says what is fetched ahead, forward as well (models/llama4/infra/
    // parallelize.py, apply_fsdp, set_modules_to_forward_prefetch): a layer asks for the next one and its experts, what
    // stands outside layers for the next one alone, experts for nothing.
    void gather_layer_following(Script& script, std::size_t u, const PassAt& at) {
        const auto has_experts = [](const FsdpUnit& unit) {
            return unit.group == RankGroups{"expert_data"} || unit.group == RankGroups::inner({"expert_data"});
        };
        const auto same = [](const FsdpUnit& a, const FsdpUnit& b) { return a.kind == b.kind && a.layer == b.layer; };
        const FsdpUnit& own = units_[u];
        if (has_experts(own)) return;
        const bool forward = at.pass == Pass::forward;
        std::vector<std::size_t> asked;  // of one layer, its experts last
        for (std::size_t next = u; forward ? next + 1 < units_.size() : next > 0;) {
            next = forward ? next + 1 : next - 1;
            const FsdpUnit& unit = units_[next];
            if (unit.chunk != own.chunk || same(unit, own)) continue;
            if (!asked.empty() && !same(unit, units_[asked.front()])) break;
            asked.insert(has_experts(unit) ? asked.end() : asked.begin(), next);
        }
        for (const std::size_t next : asked) {
            if (own.kind == UnitKind::layer || !has_experts(units_[next])) gather(script, next, at.where);
        }
    }

    // The gradient of a unit; where it is sharded inside groups, the shard is then summed over the groups. Sums are not
    // divided, as torchtitan divides the loss (distributed/utils.py, disable_fsdp_gradient_division).
    void reduce(Script& script, std::size_t u, Where where) {
        const FsdpUnit& unit = units_[u];
        if (input_.tensor_ranks > 1 && composes()) sum_norms(script, unit, where);
        if (is_alone(unit)) reduce_alone(script, u, where);
        if ((unit.ranks == 1 && !unit.replicas) || unit.trained == 0) return;
        if (scattered_ != Action::none) script.wait(scattered_);
        std::erase(reductions_, scattered_);
        copy(script, "copy in gradients", unit.trained * (summed_bytes() + reduced_bytes()), where);
        Call call{Collective::reduce_scatter,
                  unit.group,
                  {unit.trained * reduced_bytes()},
                  "reduce-scatter gradients",
                  type_of(reduced_bytes())};
        scattered_ = unit.ranks > 1 ? script.issue(call, where, script.now()) : Action::none;
        if (scattered_ != Action::none) reductions_.push_back(scattered_);
        if (!unit.replicas) return;
        call.op = Collective::all_reduce;
        call.group = *unit.replicas;
        call.message = call.message / unit.ranks;
        call.label = "all-reduce gradient shards";
        reductions_.push_back(script.issue(call, where, scattered_ != Action::none ? scattered_ : script.now()));
    }

    // A rank alone casts its shards, copies them into a buffer and gathers that from itself; packs gradients in the
    // type in which they are reduced, scatters that to itself, and adds it to what earlier micro-batches left.
    bool is_alone(const FsdpUnit& unit) const {
        return composes() && unit.ranks == 1 && !unit.replicas && input_.ranks == 1 && input_.sharing_experts == 1;
    }
    void reduce_alone(Script& script, std::size_t u, Where where) {
        const double elements = units_[u].trained;
        copy(script, "pack gradients", elements * (summed_bytes() + reduced_bytes()), where, PassClass::strided);
        const double sum = reduced_[u] ? 3 * 4 : 0;
        copy(script, "copy gradients", elements * (2 * reduced_bytes() + sum), where, PassClass::element_wise);
        reduced_[u] = true;
    }

    // Tensor ranks have parts of the gradients of what all of them hold and apply to their own tokens, each a tensor of
    // its own (_fsdp_common.py, _get_grad_inner_tensor: DTensor.redistribute).
    void sum_norms(Script& script, const FsdpUnit& unit, Where where) const {
        for (const std::uint32_t m : unit.modules) {
            const StageModule& module = input_.modules[m];
            if (!module.name.ends_with("norm")) continue;
            for (std::size_t t = 0; t < module.tensors.size(); ++t) {
                if (!module.trains(t)) continue;
                script.call({Collective::all_reduce,
                             {"tensor"},
                             {static_cast<double>(module.tensors[t]) * summed_bytes()},
                             "all-reduce norm gradients",
                             type_of(summed_bytes())},
                            where);
            }
        }
    }

    ShardingInput input_;
    std::vector<FsdpUnit> units_;
    std::vector<std::size_t> unit_of_;    // of each module
    std::vector<State> states_;           // of each unit
    std::vector<bool> reduced_;           // of each unit of a rank alone, whether it was in this step
    std::vector<ActionId> reductions_;    // in flight
    ActionId gate_ = Action::none;        // what the stream of gathers has been told to wait for
    ActionId copied_out_ = Action::none;  // the copy that it will be told to wait for after the next one
    ActionId scattered_ = Action::none;   // the last scatter
};

}  // namespace

std::unique_ptr<DataParallel> make_fully_shard(const ShardingInput& input) {
    return std::make_unique<FullyShard>(input);
}

}  // namespace weft
