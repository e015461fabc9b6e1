// The all-gathers of ZeRO-3 and ZeRO++: which calls bring a list of tensors, and when they are waited for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/deepspeed_calls.hpp"

namespace weft {

// Elements of a tensor as ZeRO-3 moves it: in shards of equal size.
inline double padded_elements(const ShardingInput& input, const StageTensor& tensor) {
    return round_up(static_cast<double>(tensor.elements), ranks_of(input, group_of(tensor)));
}

// Sizes of ZeRO++'s quantised messages (arXiv 2306.10209; DeepSpeed 0.14.0 runtime/zero/partition_parameters.py
// CUDAQuantizer, runtime/comm/coalesced_collectives.py all_to_all_quant_reduce).

// Scales of `elements` quantised weights: groups of at most 8,000 elements first, as few as divide them by eights,
// then halved while they are larger than that; never 16,000 or more where a division exists.
inline std::uint64_t quantization_groups(std::uint64_t elements) {
    constexpr std::uint64_t target_group = 8000;  // elements
    constexpr std::uint64_t lanes = 8;            // elements that a kernel handles at once
    std::uint64_t groups = (elements + target_group - 1) / target_group;
    // DeepSpeed refuses such a tensor; the plain number of groups is an assumption.
    if (elements % lanes != 0) return groups;
    while (elements % (lanes * groups) != 0) ++groups;  // elements / 8 at the latest
    while (elements % (2 * lanes * groups) == 0 && elements > target_group * groups) groups *= 2;
    return groups;
}

// DeepSpeed 0.14.0, runtime/zero/partition_parameters.py (all_gather_coalesced).
class Zero3Gathers {
  public:
    explicit Zero3Gathers(const ShardingInput& input)
        : input_(input),
          host_(input),
          tensors_(stage_tensors(input.modules)),
          gather_of_(tensors_.size(), none),
          copied_(tensors_.size(), false) {}

    // Starts to gather tensors (indices into stage_tensors), together where they come from the same group. With hpZ
    // those that have been used in this step come from the copy in their inner group.
    void start(Script& script, std::span<const std::uint32_t> list, Where where) {
        std::map<RankGroups, std::vector<std::uint32_t>> by_group;
        for (const std::uint32_t t : list) {
            const bool inner = copied_[t] && input_.deepspeed.hierarchical_ranks > 1 && !tensors_[t].expert;
            by_group[inner ? RankGroups::inner(copy_axes()) : group_of(tensors_[t])].push_back(t);
        }
        where.micro_batch = Where::whole_step;  // another micro-batch may find more, or less, resident
        for (const auto& [group, together] : by_group) {
            const std::uint32_t members =
                group == RankGroups::inner(copy_axes()) ? input_.inner_ranks : ranks_of(input_, group);
            if (members == 1 && !host_.holds_parameters()) continue;
            double elements = 0;
            for (const std::uint32_t t : together) elements += padded_elements(input_, tensors_[t]);
            Gather gather;
            if (host_.holds_parameters()) gather.calls.push_back(host_.fetch_shards(script, elements / members, where));
            const auto issue = [&, group = group](double bytes, std::string_view label, std::string_view type) {
                const Call call = deepspeed_call(Collective::all_gather, group, bytes, label, type);
                const bool fetched = !gather.calls.empty(), logged = input_.deepspeed.log_calls == Setting::on;
                if (fetched && logged) script.wait(gather.calls.back());
                gather.calls.push_back(fetched && !logged ? script.issue(call, where, gather.calls.back())
                                                          : issue_unless_logged(script, input_, call, where));
            };
            if (input_.deepspeed.quantized_weights == Setting::on) {
                const auto shard = static_cast<std::uint64_t>(elements / members);
                issue(elements, "all-gather parameters", "int8");
                issue(4.0 * static_cast<double>(quantization_groups(shard)) * members, "all-gather scales", "fp32");
            } else if (members > 1) {
                issue(elements * input_.element_bytes, "all-gather parameters", input_.element_type);
            }
            for (const std::uint32_t t : together) gather_of_[t] = gathers_.size();
            gathers_.push_back(std::move(gather));
        }
    }
    // The chain waits for what brings a tensor; nothing if it has been waited for.
    void finish(Script& script, std::size_t tensor) {
        if (gather_of_[tensor] == none) return;
        Gather& gather = gathers_[std::exchange(gather_of_[tensor], none)];
        if (std::exchange(gather.finished, true)) return;
        for (const ActionId call : gather.calls) script.wait(call);
    }
    // One tensor by one blocking call.
    void gather_alone(Script& script, std::size_t tensor) const {
        const RankGroups group = group_of(tensors_[tensor]);
        const std::uint32_t ranks = ranks_of(input_, group);
        if (host_.holds_parameters()) {
            script.wait(host_.fetch_shards(script, padded_elements(input_, tensors_[tensor]) / ranks, {}));
        }
        if (ranks == 1) return;
        script.call(deepspeed_call(Collective::all_gather, group,
                                   padded_elements(input_, tensors_[tensor]) * input_.element_bytes,
                                   "all-gather parameters", input_.element_type));
    }

    void released(std::size_t tensor) { copied_[tensor] = true; }  // to its inner group
    // Out of date after the optimizer step.
    void forget_copies() { std::fill(copied_.begin(), copied_.end(), false); }

  private:
    struct Gather {
        std::vector<ActionId> calls;
        bool finished = false;
    };
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    ShardingInput input_;
    HostCopies host_;
    std::vector<StageTensor> tensors_;
    std::vector<Gather> gathers_;
    std::vector<std::size_t> gather_of_;  // of each tensor: the one that brings it and has not been waited for
    std::vector<bool> copied_;            // of each tensor: whether inner groups hold an up-to-date copy
};

// The gradient reductions of ZeRO-3 and ZeRO++: one reduce-scatter a bucket, or quantised exchanges tensor by tensor
// (DeepSpeed 0.14.0, runtime/zero/stage3.py and runtime/comm/coalesced_collectives.py).
class Zero3Gradients {
  public:
    explicit Zero3Gradients(const ShardingInput& input)
        : input_(input), tensors_(stage_tensors(input.modules)), bucket_{deepspeed_bucket(input)}, host_(input) {}

    // Its gradient is complete.
    void add(Script& script, std::size_t tensor, Where where) {
        const double elements = static_cast<double>(tensors_[tensor].elements);
        if (bucket_.filled > 0 && bucket_.filled + elements > bucket_.limit) close(script, where);
        bucket_.add(tensor, elements);
    }
    // Reduces what has been added, and waits for it.
    void finish(Script& script, Where where) {
        close(script, where);
        wait(script);
    }

  private:
    // The longer side of a matrix of which only the elements are known. Assumption: the other side is the hidden size,
    // which is that of a norm, or the matrix is square.
    std::uint64_t longest_side(std::uint64_t elements) const {
        for (const StageModule& module : input_.modules) {
            const bool norm = std::ranges::find(module.vector, false) == module.vector.end();
            if (norm && !module.tensors.empty()) {
                return std::max(module.tensors.front(), elements / module.tensors.front());
            }
        }
        return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(elements)));
    }

    // qgZ, which needs more than one node.
    bool in_hops() const {
        return input_.deepspeed.quantized_gradients == Setting::on && input_.deepspeed.reduce_scatter == Setting::on &&
               input_.ranks > input_.node_ranks;
    }
    void close(Script& script, Where where) {
        if (bucket_.tensors.empty()) return;
        // Without reduce_scatter the buffer of the bucket is all-reduced; a tensor that is larger does not go there.
        const bool scatter = input_.deepspeed.reduce_scatter == Setting::on || bucket_.filled > bucket_.limit;
        std::vector<ActionId> issued;
        std::map<RankGroups, double> together;  // elements; a reduce-scatter pads every tensor to equal shards
        for (const std::size_t t : bucket_.tensors) {
            const StageTensor& tensor = tensors_[t];
            if (in_hops() && !tensor.expert) {
                issued.push_back(reduce_in_hops(script, tensor, where));
            } else {
                together[group_of(tensor)] +=
                    scatter ? padded_elements(input_, tensor) : static_cast<double>(tensor.elements);
            }
        }
        for (const auto& [group, elements] : together) {
            const Call call = reduction(scatter ? Collective::reduce_scatter : Collective::all_reduce, group, elements);
            issued.push_back(issue_unless_logged(script, input_, call, where));
        }
        if (host_.used()) issued.push_back(offload(script, issued.back(), where));
        bucket_.clear();
        wait(script);  // at most two buckets are in flight (max_param_reduce_events)
        in_flight_ = std::move(issued);
        if (input_.gradient_overlap == Setting::off) wait(script);
    }
    void wait(Script& script) { script.finish(in_flight_); }
    ActionId offload(Script& script, ActionId reduced, Where where) const {
        const auto own = sum_of<double>(bucket_.tensors, [&](std::size_t t) {
            return padded_elements(input_, tensors_[t]) / ranks_of(input_, group_of(tensors_[t]));
        });
        return host_.store_gradients(script, own, where, reduced);
    }
    Call reduction(Collective op, RankGroups group, double elements) const {
        return deepspeed_call(op, group, elements * input_.element_bytes,
                              op == Collective::all_reduce ? "all-reduce gradients" : "reduce-scatter gradients",
                              input_.element_type);
    }
    // int4 inside the node, dequantised and summed, int4 again among equal places of the nodes. Vectors, and what does
    // not divide evenly, are reduce-scattered tensor by tensor.
    ActionId reduce_in_hops(Script& script, const StageTensor& tensor, Where where) const {
        if (tensor.vector || tensor.elements % (2ULL * input_.ranks) != 0) {
            const Call call = reduction(Collective::reduce_scatter, copy_axes(), padded_elements(input_, tensor));
            return issue_unless_logged(script, input_, call, where);
        }
        const std::uint64_t inner_groups = std::max<std::uint64_t>(longest_side(tensor.elements), input_.ranks);
        const std::uint64_t outer_groups = inner_groups / input_.inner_ranks;
        const double values = static_cast<double>(tensor.elements) / 2;  // 4 bits each
        ActionId last = script.now();
        const auto exchange = [&](RankGroups group, double bytes, std::string_view label, std::string_view type) {
            const Call call = deepspeed_call(Collective::all_to_all, group, bytes, label, type);
            const bool blocks = input_.deepspeed.log_calls == Setting::on;
            last = blocks ? script.call(call, where) : script.issue(call, where, last);
        };
        const RankGroups inner = RankGroups::inner(copy_axes()), outer = RankGroups::outer({"data"});
        exchange(inner, values, "all-to-all gradients", "int8");
        exchange(inner, 4.0 * static_cast<double>(inner_groups), "all-to-all scales", "fp32");
        exchange(outer, values / input_.inner_ranks, "all-to-all gradients", "int8");
        exchange(outer, 4.0 * static_cast<double>(outer_groups), "all-to-all scales", "fp32");
        return last;
    }

    ShardingInput input_;
    std::vector<StageTensor> tensors_;
    ContiguousBucket bucket_;
    HostCopies host_;
    std::vector<ActionId> in_flight_;  // reductions of the latest bucket, and copies
};

}  // namespace weft
