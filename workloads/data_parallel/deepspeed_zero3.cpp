// DeepSpeed 0.14.0, ZeRO stage 3 (runtime/zero/stage3.py, partition_parameters.py, parameter_offload.py): parameters
// are gathered as the coordinator says, gradients reduce-scattered bucket by bucket after every micro-batch. ZeRO++:
// weights gathered as int8 with fp32 scales (qwZ), from a copy inside a small group after their first use in a step
// (hpZ), and gradients exchanged as int4 in two hops (qgZ).
#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/deepspeed_calls.hpp"
#include "workloads/data_parallel/fsdp_units.hpp"
#include "workloads/data_parallel/parameter_coordinator.hpp"
#include "workloads/data_parallel/zero3_calls.hpp"

namespace weft {
namespace {

using TensorList = ParameterCoordinator::TensorList;

// A bias that its module returns rather than adds (skip_bias_add in NeoX: all but the QKV projection) is used by the
// caller, so DeepSpeed takes it for an external parameter and does not release it with the module.
bool handed_out(const StageModule& module, const StageTensor& tensor) {
    const bool beside_matrix = std::find(module.vector.begin(), module.vector.end(), false) != module.vector.end();
    return tensor.vector && beside_matrix && module.name != "qkv";
}

bool persistent(const ShardingInput& input, const StageTensor& tensor) {
    return static_cast<double>(tensor.elements) <= input.deepspeed.persistence_elements;
}

// The modules, their containers, and last the model itself.
ParameterCoordinator coordinator_of(const ShardingInput& input, std::span<const Container> containers) {
    std::vector<CoordinatedTensor> tensors;
    std::vector<CoordinatedModule> modules(input.modules.size());
    for (const StageTensor& tensor : stage_tensors(input.modules)) {
        modules[tensor.module].own.push_back(static_cast<std::uint32_t>(tensors.size()));
        tensors.push_back(
            {tensor.elements, persistent(input, tensor), handed_out(input.modules[tensor.module], tensor)});
    }
    for (const Container& container : containers) {
        TensorList borrowed;
        for (const std::uint32_t m : container.hand_out) {
            std::ranges::copy_if(modules[m].own, std::back_inserter(borrowed),
                                 [&](std::uint32_t t) { return tensors[t].external; });
        }
        modules.push_back({.own = {}, .borrowed = std::move(borrowed)});
    }
    modules.push_back({});
    return {std::move(tensors),
            std::move(modules),
            {.prefetch = input.deepspeed.prefetch_elements,
             .live = input.deepspeed.max_live_elements,
             .reuse = input.deepspeed.max_reuse_elements}};
}

class DeepSpeedZero3 final : public DataParallel {
  public:
    explicit DeepSpeedZero3(const ShardingInput& input)
        : input_(input),
          tensors_(stage_tensors(input.modules)),
          first_(first_tensors(input.modules)),
          containers_(containers_of(input.modules)),
          hooks_(container_hooks(containers_, input.modules.size())),
          coordinator_(coordinator_of(input, containers_)),
          gathers_(input),
          gradients_(input) {
        const bool nodes = input.deepspeed.quantized_gradients == Setting::on && input.ranks > input.node_ranks;
        WEFT_CHECK(input.deepspeed.hierarchical_ranks == 1 || input.inner_ranks == input.deepspeed.hierarchical_ranks,
                   "hpZ copies parameters inside the inner groups");
        WEFT_CHECK(!nodes || input.inner_ranks == input.node_ranks, "qgZ's first hop is inside the inner groups");
        if (input.step == StepKind::steady) play_earlier_steps();
    }

    // The engine broadcasts every tensor, the conversion to partitioned parameters does so again; then registering the
    // hooks gathers every tensor once.
    void start_up(Script& script) override {
        broadcast_parameters(script, input_);
        broadcast_parameters(script, input_);
        for (std::size_t t = 0; t < tensors_.size(); ++t) gathers_.gather_alone(script, t);
    }

    void begin_pass(Script& script, const PassAt& at) override {
        if (at.pass == Pass::forward) enter(script, at.where, model());
    }

    void before(Script& script, const PassAt& at, std::size_t index) override {
        for (const std::uint32_t c : containers_around(index, at.pass)) enter(script, at.where, c);
        const auto needed = coordinator_.before(static_cast<std::uint32_t>(index));
        WEFT_CHECK(!coordinator_.left_trace(), "modules run in another order than the one that ZeRO-3 has recorded");
        gathers_.start(script, needed.fetch, at.where);
        for (std::size_t t = first_[index]; t < first_[index + 1]; ++t) gathers_.finish(script, t);
        gathers_.start(script, needed.prefetch, at.where);
    }

    void after(Script& script, const PassAt& at, std::size_t index) override {
        coordinator_.after(static_cast<std::uint32_t>(index));
        for (std::size_t t = first_[index]; t < first_[index + 1]; ++t) {
            if (!coordinator_.resident(static_cast<std::uint32_t>(t))) gathers_.released(t);
        }
        if (at.pass != Pass::backward) return;
        for (std::size_t t = first_[index + 1]; t-- > first_[index];) {
            if (tensors_[t].trained) gradients_.add(script, t, at.where);
        }
    }

    void end_pass(Script& script, const PassAt& at) override {
        if (at.pass != Pass::backward) return;
        gradients_.finish(script, at.where);
        coordinator_.end_trace();
    }

    // A flag of one byte, and the sum of squares in fp64 for each sub-group of the partitioned parameters.
    void before_optimizer(Script& script) override {
        coordinator_.release_all();
        const bool model_group = input_.model_ranks > 1;
        all_reduce_overflow(script, copy_axes());
        if (model_group) all_reduce_overflow(script, part_axes());
        for (const RankGroups group : sub_groups()) {
            all_reduce_norm(script, group);
            if (model_group) all_reduce_norm(script, part_axes());
        }
    }

    void after_optimizer(Script& script) override {
        // Shards that the host updates and keeps stay there.
        if (const HostCopies host(input_); host.used() != host.holds_parameters()) {
            double own = 0;
            for (const StageTensor& tensor : tensors_) {
                if (!tensor.trained) continue;
                own += static_cast<double>(padded_elements(input_, tensor)) / ranks_of(input_, group_of(tensor));
            }
            host.used() ? host.load_parameters(script, own) : host.store_parameters(script, own);
        }
        for (std::size_t t = 0; t < tensors_.size(); ++t) {
            if (tensors_[t].trained && persistent(input_, tensors_[t])) gathers_.gather_alone(script, t);
        }
        gathers_.forget_copies();
        coordinator_.gather_persistent();
    }

  private:
    // A run settles in its third step: the first records the trace, and the second still finds other tensors live.
    void play_earlier_steps() {
        for (int step = 0; step < 2; ++step) {
            for (std::uint32_t i = 0; i < input_.micro_batches; ++i) play_micro_batch();
            coordinator_.release_all();
            coordinator_.gather_persistent();
        }
    }

    void play_micro_batch() {
        coordinator_.before(model());
        for (const auto& [module, pass] : module_visits(input_.modules, input_.checkpointing)) {
            for (const std::uint32_t c : containers_around(module, pass)) coordinator_.before(c);
            coordinator_.before(module);
            coordinator_.after(module);
        }
        coordinator_.end_trace();
    }

    // As the coordinator numbers them, outermost first.
    std::vector<std::uint32_t> containers_around(std::size_t module, Pass pass) const {
        std::vector<std::uint32_t> around = pass == Pass::backward ? hooks_[module].backward : hooks_[module].forward;
        for (std::uint32_t& container : around) container += static_cast<std::uint32_t>(input_.modules.size());
        return around;
    }
    std::uint32_t model() const { return static_cast<std::uint32_t>(input_.modules.size() + containers_.size()); }

    // Before a module that only contains others.
    void enter(Script& script, Where where, std::uint32_t container) {
        const auto needed = coordinator_.before(container);
        gathers_.start(script, needed.fetch, where);
        for (const std::uint32_t t : needed.fetch) gathers_.finish(script, t);
        gathers_.start(script, needed.prefetch, where);
    }

    void all_reduce_norm(Script& script, RankGroups group) const {
        script.call(deepspeed_call(Collective::all_reduce, group, 8, "all-reduce gradient norm", "fp64"));
    }

    // Optimizer groups, cut where a rank's shards reach sub_group_elements (_create_fp16_sub_groups).
    std::vector<RankGroups> sub_groups() const {
        std::vector<RankGroups> kinds;
        for (const OptimizerGroup& group : optimizer_groups(input_)) {
            double filled = 0;
            for (const std::size_t t : group.tensors) {
                filled += padded_elements(input_, tensors_[t]) / group.ranks;
                if (filled < input_.deepspeed.sub_group_elements && t != group.tensors.back()) continue;
                kinds.push_back(group.group);
                filled = 0;
            }
        }
        return kinds;
    }

    ShardingInput input_;
    std::vector<StageTensor> tensors_;
    std::vector<std::size_t> first_;
    std::vector<Container> containers_;
    std::vector<ContainerHooks> hooks_;
    ParameterCoordinator coordinator_;
    Zero3Gathers gathers_;
    Zero3Gradients gradients_;
};

}  // namespace

std::unique_ptr<DataParallel> make_deepspeed_zero3(const ShardingInput& input) {
    return std::make_unique<DeepSpeedZero3>(input);
}

}  // namespace weft
