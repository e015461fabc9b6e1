// DeepSpeed 0.14.0, runtime/zero/stage3.py and runtime/comm/coalesced_collectives.py.
#include "workloads/data_parallel/zero3_gradients.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "workloads/data_parallel/deepspeed_calls.hpp"
#include "workloads/data_parallel/zero3_gathers.hpp"
#include "workloads/data_parallel/zeropp.hpp"

namespace weft {
namespace {

// The longer side of a matrix of which only the elements are known. Assumption: the other side is the hidden size,
// which is that of a norm, or the matrix is square.
std::uint64_t longest_side(std::span<const StageModule> modules, std::uint64_t elements) {
    for (const StageModule& module : modules) {
        const bool norm = std::find(module.vector.begin(), module.vector.end(), false) == module.vector.end();
        if (!norm || module.tensors.empty()) continue;
        const std::uint64_t hidden = module.tensors.front();
        return std::max(hidden, elements / hidden);
    }
    return static_cast<std::uint64_t>(std::sqrt(static_cast<double>(elements)));
}

}  // namespace

Zero3Gradients::Zero3Gradients(const ShardingInput& input)
    : input_(input), tensors_(stage_tensors(input.modules)), bucket_(deepspeed_bucket(input)), host_(input) {}

// qgZ, which needs more than one node.
bool Zero3Gradients::in_hops() const {
    return input_.deepspeed.quantized_gradients == Setting::on && input_.deepspeed.reduce_scatter == Setting::on &&
           input_.ranks > input_.node_ranks;
}

void Zero3Gradients::add(Script& script, std::size_t tensor, Where where) {
    const double elements = static_cast<double>(tensors_[tensor].elements);
    if (bucket_.overfilled_by(elements)) close(script, where);
    bucket_.add(tensor, elements);
}

void Zero3Gradients::finish(Script& script, Where where) {
    close(script, where);
    wait(script);
}

void Zero3Gradients::close(Script& script, Where where) {
    if (bucket_.empty()) return;
    // Without reduce_scatter the buffer of the bucket is all-reduced; a tensor that is larger does not go there.
    const bool scatter = input_.deepspeed.reduce_scatter == Setting::on || bucket_.filled() > bucket_.limit();
    std::vector<ActionId> issued;
    std::map<RankGroups, double> together;  // elements; a reduce-scatter pads every tensor to equal shards
    for (const std::size_t t : bucket_.tensors()) {
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

ActionId Zero3Gradients::offload(Script& script, ActionId reduced, Where where) const {
    double own = 0;
    for (const std::size_t t : bucket_.tensors()) {
        own += static_cast<double>(padded_elements(input_, tensors_[t])) / ranks_of(input_, group_of(tensors_[t]));
    }
    return host_.store_gradients(script, own, where, reduced);
}

void Zero3Gradients::wait(Script& script) {
    for (const ActionId reduction : in_flight_) script.wait(reduction);
    in_flight_.clear();
}

Call Zero3Gradients::reduction(Collective op, RankGroups group, double elements) const {
    return deepspeed_call(op, group, elements * input_.element_bytes,
                          op == Collective::all_reduce ? "all-reduce gradients" : "reduce-scatter gradients",
                          input_.element_type);
}

// int4 inside the node, dequantised and summed, int4 again among equal places of the nodes. Vectors, and what does not
// divide evenly, are reduce-scattered tensor by tensor.
ActionId Zero3Gradients::reduce_in_hops(Script& script, const StageTensor& tensor, Where where) const {
    if (tensor.vector || tensor.elements % (2ULL * input_.ranks) != 0) {
        const Call call =
            reduction(Collective::reduce_scatter, copy_axes(), static_cast<double>(padded_elements(input_, tensor)));
        return issue_unless_logged(script, input_, call, where);
    }
    const QuantizedReduction hops = quantized_reduction(tensor.elements, longest_side(input_.modules, tensor.elements),
                                                        input_.ranks, input_.inner_ranks);
    ActionId last = script.now();
    const auto exchange = [&](RankGroups group, double bytes, std::string_view label, std::string_view type) {
        const Call call = deepspeed_call(Collective::all_to_all, group, bytes, label, type);
        const bool blocks = input_.deepspeed.log_calls == Setting::on;
        last = blocks ? script.call(call, where) : script.issue(call, where, last);
    };
    exchange(RankGroups::inner(copy_axes()), hops.inner_values, "all-to-all gradients", "int8");
    exchange(RankGroups::inner(copy_axes()), hops.inner_scales, "all-to-all scales", "fp32");
    exchange(RankGroups::outer({"data"}), hops.outer_values, "all-to-all gradients", "int8");
    exchange(RankGroups::outer({"data"}), hops.outer_scales, "all-to-all scales", "fp32");
    return last;
}

}  // namespace weft
