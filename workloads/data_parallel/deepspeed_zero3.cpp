// DeepSpeed 0.14.0, ZeRO stage 3 (runtime/zero/stage3.py, partition_parameters.py, parameter_offload.py): parameters
// are gathered as the coordinator says, gradients reduce-scattered bucket by bucket after every micro-batch. ZeRO++:
// weights gathered as int8 with fp32 scales (qwZ), from a copy inside a small group after their first use in a step
// (hpZ), and gradients exchanged as int4 in two hops (qgZ).
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/check.hpp"
#include "workloads/data_parallel/contiguous_bucket.hpp"
#include "workloads/data_parallel/deepspeed_calls.hpp"
#include "workloads/data_parallel/engines.hpp"
#include "workloads/data_parallel/module_hooks.hpp"
#include "workloads/data_parallel/parameter_coordinator.hpp"
#include "workloads/data_parallel/zeropp.hpp"

namespace weft {
namespace {

using TensorList = ParameterCoordinator::TensorList;

// A bias that its module returns rather than adds (skip_bias_add in NeoX: all but the QKV projection) is used by the
// caller, so DeepSpeed takes it for an external parameter and does not release it with the module.
bool handed_out(const StageModule& module, const StageTensor& tensor) {
    const bool beside_matrix = std::find(module.vector.begin(), module.vector.end(), false) != module.vector.end();
    return tensor.vector && beside_matrix && module.name != "qkv";
}

ParameterCoordinator coordinator_of(const ShardingInput& input) {
    std::vector<CoordinatedTensor> tensors;
    std::vector<TensorList> modules(input.modules.size());
    for (const StageTensor& tensor : stage_tensors(input.modules)) {
        modules[tensor.module].push_back(static_cast<std::uint32_t>(tensors.size()));
        const bool persistent = static_cast<double>(tensor.elements) <= input.deepspeed.persistence_elements;
        tensors.push_back({tensor.elements, persistent, handed_out(input.modules[tensor.module], tensor)});
    }
    return {std::move(tensors),
            std::move(modules),
            {.prefetch = input.deepspeed.prefetch_elements,
             .live = input.deepspeed.max_live_elements,
             .reuse = input.deepspeed.max_reuse_elements}};
}

// The hidden size, for the shape of a matrix of which only the elements are known: that of a norm. Assumption: one side
// of every matrix is the hidden size.
std::uint64_t longest_side(std::span<const StageModule> modules, std::uint64_t elements) {
    for (const StageModule& module : modules) {
        if (module.vector.empty() ||
            std::find(module.vector.begin(), module.vector.end(), false) != module.vector.end()) {
            continue;
        }
        const std::uint64_t hidden = module.tensors.front();
        return std::max(hidden, elements / hidden);
    }
    return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(elements)));
}

class DeepSpeedZero3 final : public DataParallel {
  public:
    explicit DeepSpeedZero3(const ShardingInput& input)
        : input_(input),
          tensors_(stage_tensors(input.modules)),
          first_(first_tensors(input.modules)),
          hooks_(container_hooks(input.modules)),
          coordinator_(coordinator_of(input)),
          bucket_(deepspeed_bucket(input)),
          gather_of_(tensors_.size(), no_gather),
          copied_(tensors_.size(), false) {
        const bool split = input.deepspeed.hierarchical_ranks > 1 || reduces_in_hops();
        WEFT_CHECK(!split || (input.inner_ranks > 0 && input.ranks % input.inner_ranks == 0),
                   "ZeRO++ needs data ranks in equal inner groups");
        if (input.step == StepKind::steady) record_trace();
    }

    // The engine broadcasts every tensor, the conversion to partitioned parameters does so again; then registering the
    // hooks gathers every tensor once.
    void start_up(Script& script) override {
        for (const StageTensor& tensor : tensors_) {
            const double bytes = static_cast<double>(tensor.elements) * input_.element_bytes;
            const Call broadcast = deepspeed_call(Collective::broadcast, group_of(tensor), bytes,
                                                  "broadcast parameters", input_.element_type);
            script.call(broadcast, {});
            script.call(broadcast, {});
        }
        for (const StageTensor& tensor : tensors_) gather_alone(script, tensor);
    }

    void begin_pass(Script& script, const PassAt& at) override {
        if (at.pass != Pass::forward) return;
        coordinator_.begin_trace();
        start(script, coordinator_.before(ParameterCoordinator::container).prefetch, at.where);
    }

    void before(Script& script, const PassAt& at, std::size_t index) override {
        const std::uint32_t containers = at.pass == Pass::backward ? hooks_[index].backward : hooks_[index].forward;
        for (std::uint32_t i = 0; i < containers; ++i) {
            start(script, coordinator_.before(ParameterCoordinator::container).prefetch, at.where);
        }
        const auto gathers = coordinator_.before(static_cast<std::uint32_t>(index));
        WEFT_CHECK(!coordinator_.left_trace(), "modules run in another order than the one that ZeRO-3 has recorded");
        start(script, gathers.fetch, at.where);
        for (std::size_t t = first_[index]; t < first_[index + 1]; ++t) finish(script, t);
        start(script, gathers.prefetch, at.where);
    }

    void after(Script& script, const PassAt& at, std::size_t index) override {
        coordinator_.after(static_cast<std::uint32_t>(index));
        for (std::size_t t = first_[index]; t < first_[index + 1]; ++t) {
            if (!coordinator_.resident(static_cast<std::uint32_t>(t))) copied_[t] = true;
        }
        if (at.pass != Pass::backward) return;
        for (std::size_t t = first_[index + 1]; t-- > first_[index];) {
            const double elements = static_cast<double>(tensors_[t].elements);
            if (bucket_.overfilled_by(elements)) close(script, at.where);
            bucket_.add(t, elements);
        }
    }

    void end_pass(Script& script, const PassAt& at) override {
        if (at.pass != Pass::backward) return;
        close(script, at.where);
        wait(script);
    }

    // A flag of one byte; the sum of squares in fp64, one for each sub-group of the partitioned parameters.
    void before_optimizer(Script& script) override {
        coordinator_.release_all();
        all_reduce_overflow(script, GroupKind::data);
        const bool model_group = input_.model_ranks > 1;
        if (model_group) all_reduce_overflow(script, GroupKind::model);
        for (const GroupKind group : sub_groups()) {
            script.call(deepspeed_call(Collective::all_reduce, group, 8, "all-reduce gradient norm", "fp64"), {});
            if (!model_group) continue;
            script.call(deepspeed_call(Collective::all_reduce, GroupKind::model, 8, "all-reduce gradient norm", "fp64"),
                        {});
        }
    }

    void after_optimizer(Script& script) override {
        for (const StageTensor& tensor : tensors_) {
            if (static_cast<double>(tensor.elements) <= input_.deepspeed.persistence_elements) {
                gather_alone(script, tensor);
            }
        }
        settle();
    }

  private:
    struct Gather {
        std::vector<ActionId> calls;
        bool finished = false;
    };

    // One micro-batch of an earlier step, so that this one finds a complete trace and what a step leaves behind.
    void record_trace() {
        coordinator_.begin_trace();
        coordinator_.before(ParameterCoordinator::container);
        for (const auto& [module, pass] : module_visits(input_.modules, input_.checkpointing)) {
            const std::uint32_t containers = pass == Pass::backward ? hooks_[module].backward : hooks_[module].forward;
            for (std::uint32_t i = 0; i < containers; ++i) coordinator_.before(ParameterCoordinator::container);
            coordinator_.before(module);
            coordinator_.after(module);
        }
        settle();
    }

    // After an optimizer step only the persistent tensors are whole, and copies in inner groups are out of date.
    void settle() {
        coordinator_.release_all();
        coordinator_.gather_persistent();
        std::fill(copied_.begin(), copied_.end(), false);
    }

    std::uint32_t ranks(GroupKind group) const { return ranks_of(input_, group); }

    // Elements as they are gathered: shards of equal size.
    double padded(const StageTensor& tensor) const {
        return round_up(static_cast<double>(tensor.elements), ranks(group_of(tensor)));
    }

    void gather_alone(Script& script, const StageTensor& tensor) const {
        if (ranks(group_of(tensor)) == 1) return;
        script.call(deepspeed_call(Collective::all_gather, group_of(tensor), padded(tensor) * input_.element_bytes,
                                   "all-gather parameters", input_.element_type),
                    {});
    }

    // Starts to gather tensors, together where they come from the same group.
    void start(Script& script, const TensorList& list, Where where) {
        std::map<GroupKind, TensorList> by_group;
        for (const std::uint32_t t : list) {
            const bool inner = copied_[t] && input_.deepspeed.hierarchical_ranks > 1 && !tensors_[t].expert;
            by_group[inner ? GroupKind::data_inner : group_of(tensors_[t])].push_back(t);
        }
        where.micro_batch = Where::whole_step;
        for (const auto& [group, together] : by_group) {
            const std::uint32_t members = group == GroupKind::data_inner ? input_.inner_ranks : ranks(group);
            if (members == 1) continue;
            double elements = 0;
            for (const std::uint32_t t : together) elements += padded(tensors_[t]);
            gathers_.push_back({});
            const auto issue = [&](double bytes, std::string_view label, std::string_view type) {
                const Call call = deepspeed_call(Collective::all_gather, group, bytes, label, type);
                gathers_.back().calls.push_back(issue_unless_logged(script, input_, call, where));
            };
            if (input_.deepspeed.quantized_weights == Setting::on) {
                const auto shard = static_cast<std::uint64_t>(elements / members);
                issue(elements, "all-gather parameters", "int8");
                issue(4.0 * static_cast<double>(quantization_groups(shard)) * members, "all-gather scales", "fp32");
            } else {
                issue(elements * input_.element_bytes, "all-gather parameters", input_.element_type);
            }
            for (const std::uint32_t t : together) gather_of_[t] = gathers_.size() - 1;
        }
    }

    void finish(Script& script, std::size_t tensor) {
        if (gather_of_[tensor] == no_gather) return;
        Gather& gather = gathers_[gather_of_[tensor]];
        gather_of_[tensor] = no_gather;
        if (std::exchange(gather.finished, true)) return;
        for (const ActionId call : gather.calls) script.wait(call);
    }

    bool reduces_in_hops() const {
        return input_.deepspeed.quantized_gradients == Setting::on && input_.deepspeed.reduce_scatter == Setting::on &&
               input_.ranks > input_.node_ranks;
    }

    void close(Script& script, Where where) {
        if (bucket_.empty()) return;
        std::vector<ActionId> issued;
        std::map<GroupKind, double> whole, scattered;  // elements
        for (const std::size_t t : bucket_.tensors()) {
            const StageTensor& tensor = tensors_[t];
            if (reduces_in_hops() && !tensor.expert) {
                reduce_in_hops(script, tensor, where, issued);
            } else {
                whole[group_of(tensor)] += static_cast<double>(tensor.elements);
                scattered[group_of(tensor)] += padded(tensor);
            }
        }
        const bool scatter = input_.deepspeed.reduce_scatter == Setting::on;
        for (const auto& [group, elements] : scatter ? scattered : whole) {
            issued.push_back(
                issue(script, reduction(scatter ? Collective::reduce_scatter : Collective::all_reduce, group, elements),
                      where));
        }
        bucket_.clear();
        wait(script);  // at most two buckets in flight
        reductions_ = std::move(issued);
        if (input_.gradient_overlap == Setting::off) wait(script);
    }

    Call reduction(Collective op, GroupKind group, double elements) const {
        return deepspeed_call(op, group, elements * input_.element_bytes,
                              op == Collective::all_reduce ? "all-reduce gradients" : "reduce-scatter gradients",
                              input_.element_type);
    }

    ActionId issue(Script& script, const Call& call, Where where) const {
        return issue_unless_logged(script, input_, call, where);
    }

    // Vectors, and what does not divide, are reduce-scattered tensor by tensor.
    void reduce_in_hops(Script& script, const StageTensor& tensor, Where where, std::vector<ActionId>& issued) const {
        if (tensor.vector || tensor.elements % (2ULL * input_.ranks) != 0) {
            issued.push_back(
                issue(script, reduction(Collective::reduce_scatter, GroupKind::data, padded(tensor)), where));
            return;
        }
        const QuantizedReduction hops = quantized_reduction(
            tensor.elements, longest_side(input_.modules, tensor.elements), input_.ranks, input_.inner_ranks);
        ActionId last = script.now();
        const auto hop = [&](GroupKind group, double bytes, std::string_view label, std::string_view type) {
            const Call call = deepspeed_call(Collective::all_to_all, group, bytes, label, type);
            const bool blocks = input_.deepspeed.log_calls == Setting::on;
            last = blocks ? script.call(call, where) : script.issue(call, where, last);
        };
        hop(GroupKind::data_inner, hops.inner_values, "all-to-all gradients", "int8");
        hop(GroupKind::data_inner, hops.inner_scales, "all-to-all scales", "fp32");
        hop(GroupKind::data_outer, hops.outer_values, "all-to-all gradients", "int8");
        hop(GroupKind::data_outer, hops.outer_scales, "all-to-all scales", "fp32");
        issued.push_back(last);
    }

    void wait(Script& script) {
        for (const ActionId reduction : reductions_) script.wait(reduction);
        reductions_.clear();
    }

    // Optimizer groups cut where sub_group_elements of a rank's shards are reached (_create_fp16_sub_groups).
    std::vector<GroupKind> sub_groups() const {
        std::vector<GroupKind> kinds;
        for (const OptimizerGroup& group : optimizer_groups(input_)) {
            double filled = 0;
            for (const std::size_t t : group.tensors) {
                filled += padded(tensors_[t]) / group.ranks;
                if (filled < input_.deepspeed.sub_group_elements && t != group.tensors.back()) continue;
                kinds.push_back(group.group);
                filled = 0;
            }
        }
        return kinds;
    }

    static constexpr std::size_t no_gather = static_cast<std::size_t>(-1);

    ShardingInput input_;
    std::vector<StageTensor> tensors_;
    std::vector<std::size_t> first_;
    std::vector<ContainerHooks> hooks_;
    ParameterCoordinator coordinator_;
    ContiguousBucket bucket_;
    std::vector<Gather> gathers_;
    std::vector<std::size_t> gather_of_;  // of each tensor: the one that brings it and has not been waited for
    std::vector<bool> copied_;            // of each tensor: whether inner groups hold an up-to-date copy
    std::vector<ActionId> reductions_;    // of the latest bucket
};

}  // namespace

std::unique_ptr<DataParallel> make_deepspeed_zero3(const ShardingInput& input) {
    return std::make_unique<DeepSpeedZero3>(input);
}

}  // namespace weft
