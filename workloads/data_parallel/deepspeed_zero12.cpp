// DeepSpeed 0.14.0, ZeRO stages 1 and 2 (runtime/zero/stage_1_and_2.py). Gradients are copied to a contiguous bucket,
// which is reduced before a tensor that would overfill it is added; every rank keeps the slices that it owns. No
// reduce-scatter is ever issued: the bucket is all-reduced whole, or reduced owner by owner.
//
// Stage 2, and stage 1 with overlap, reduce from hooks in backward order; stage 1 without overlap (which a pipeline
// engine forces) reduces after the backward pass, in the order of the optimizer groups. Stage 1 communicates only for
// the last micro-batch, stage 2 for each.
#include <algorithm>
#include <utility>

#include "workloads/data_parallel/data_parallel.hpp"
#include "workloads/data_parallel/deepspeed_calls.hpp"

namespace weft {
namespace {

// Which flat elements of an optimizer group a tensor is.
struct Slice {
    std::size_t group = 0;
    double begin = 0;
};

std::vector<Slice> slices_of(const std::vector<OptimizerGroup>& groups, const std::vector<StageTensor>& tensors) {
    std::vector<Slice> slices(tensors.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        double begin = 0;
        for (const std::size_t t : groups[g].tensors) {
            slices[t] = {g, begin};
            begin += static_cast<double>(tensors[t].elements);
        }
    }
    return slices;
}

class DeepSpeedZero12 final : public DataParallel {
  public:
    explicit DeepSpeedZero12(const ShardingInput& input)
        : input_(input),
          tensors_(stage_tensors(input.modules)),
          first_(first_tensors(input.modules)),
          groups_(optimizer_groups(input)),
          slices_(slices_of(groups_, tensors_)),
          overlaps_(input.gradient_overlap == Setting::on && input.stages == 1),
          hooked_(input.zero == 2 || overlaps_),
          bucket_{deepspeed_bucket(input)},
          host_(input) {}

    void start_up(Script& script) override { broadcast_parameters(script, input_); }

    bool idle(const PassAt& at) const override { return at.pass != Pass::backward || !hooked_ || !reduces(at); }

    void after(Script& script, const PassAt& at, std::size_t index) override {
        if (idle(at)) return;
        for (std::size_t t = first_[index + 1]; t-- > first_[index];) {
            if (tensors_[t].trained) add(script, t, where(at));
        }
    }

    void end_pass(Script& script, const PassAt& at) override {
        if (idle(at)) return;
        close(script, where(at));
        if (at.accumulation != Accumulation::complete) wait(script);
    }

    void finish_gradients(Script& script) override {
        wait(script);
        reduce_tied_embedding(script, input_, Through::deepspeed);
        if (hooked_) return;
        for (const OptimizerGroup& group : groups_) {
            for (const std::size_t t : group.tensors) add(script, t, {});
        }
        close(script, {});
    }

    void before_optimizer(Script& script) override {
        const bool model_group = input_.model_ranks > 1;  // _model_parallel_all_reduce does nothing for one rank
        all_reduce_overflow(script, copy_axes());
        if (model_group) all_reduce_overflow(script, part_axes());
        for (const OptimizerGroup& group : groups_) {
            all_reduce_gradient_norm(script, group.group);
            if (model_group) all_reduce_gradient_norm(script, part_axes());
        }
    }

    void after_optimizer(Script& script) override {
        if (host_.used()) {
            auto own = sum_of<double>(groups_, [&](const OptimizerGroup& group) { return group.padded / group.ranks; });
            host_.load_parameters(script, own);
        }
        gather_updated_parameters(script, input_);
    }

  private:
    bool reduces(const PassAt& at) const { return input_.zero == 2 || at.accumulation == Accumulation::complete; }
    Where where(const PassAt& at) const {
        return input_.zero == 2 ? at.where : Where{.micro_batch = Where::whole_step, .layer = at.where.layer};
    }

    // A tensor that does not fit even an empty bucket has the bucket reduced before it all the same: nothing is sent,
    // unless it is the whole buffer that is all-reduced.
    void add(Script& script, std::size_t tensor, Where where) {
        const double elements = static_cast<double>(tensors_[tensor].elements);
        if (bucket_.filled + elements > bucket_.limit) reduce_bucket(script, where);
        bucket_.add(tensor, elements);
    }

    bool all_reduces_whole() const {
        const DeepSpeedVersion& version = input_.deepspeed.version;
        const Setting own = input_.zero == 2 ? version.stage2_whole : version.stage1_whole;
        return input_.deepspeed.multi_rank_allreduce.value_or(own) == Setting::on;
    }

    void close(Script& script, Where where) {
        if (!bucket_.tensors.empty()) reduce_bucket(script, where);
    }

    void reduce_bucket(Script& script, Where where) {
        std::vector<ActionId> issued;
        const auto reduce = [&](Collective op, RankGroups group, double elements) {
            const std::string_view label = op == Collective::reduce ? "reduce gradients" : "all-reduce gradients";
            const Call call = deepspeed_call(op, group, elements * input_.element_bytes, label, input_.element_type);
            if (overlaps_) {
                issued.push_back(issue_unless_logged(script, input_, call, where));
            } else {
                script.call(call, where);
            }
        };
        if (input_.deepspeed.reduce_scatter == Setting::off) {  // the whole buffer, however full
            reduce(Collective::all_reduce, copy_axes(), std::max(bucket_.filled, bucket_.limit));
        } else if (all_reduces_whole()) {
            for (const Portion& portion : by_group()) reduce(Collective::all_reduce, portion.group, portion.elements);
        } else {
            for (const Portion& portion : by_owner()) reduce(Collective::reduce, portion.group, portion.elements);
        }
        if (host_.used()) issued.push_back(offload(script, issued, where));
        bucket_.clear();
        wait(script);  // the next gradients go to the other one of two buffers: what is reduced from it must be done
        in_flight_ = std::move(issued);
        if (!overlaps_) wait(script);  // copies are in the stream of computation
    }

    ActionId offload(Script& script, const std::vector<ActionId>& reduced, Where where) {
        const auto own = sum_of<double>(bucket_.tensors, [&](std::size_t t) {
            return static_cast<double>(tensors_[t].elements) / groups_[slices_[t].group].ranks;
        });
        return host_.store_gradients(script, own, where, reduced.empty() ? script.now() : reduced.back());
    }

    // A part of the bucket that one rank of a group owns.
    struct Portion {
        RankGroups group{};
        std::uint32_t owner = 0;
        double elements = 0;
    };

    // The bucket from front to back, cut where the owner changes (average_tensor).
    std::vector<Portion> portions() const {
        std::vector<Portion> cut;
        for (const std::size_t t : bucket_.tensors) {
            const OptimizerGroup& group = groups_[slices_[t].group];
            const double partition = group.padded / group.ranks;
            double begin = slices_[t].begin;
            const double end = begin + static_cast<double>(tensors_[t].elements);
            while (begin < end) {
                const auto owner = static_cast<std::uint32_t>(begin / partition);
                const double stop = std::min(end, (owner + 1) * partition);
                const bool merges = !cut.empty() && cut.back().owner == owner && cut.back().group == group.group;
                if (!merges) cut.push_back({group.group, owner, 0});
                cut.back().elements += stop - begin;
                begin = stop;
            }
        }
        return cut;
    }

    // What is all-reduced together: all of a group, but no more than one portion beyond the size of the bucket, which
    // cuts only a tensor that is larger (allreduce_and_scatter). Groups come in the order of their first portions.
    std::vector<Portion> by_group() const {
        const std::vector<Portion> cut = portions();
        std::vector<Portion> calls;
        const auto add = [&](RankGroups group) {
            Portion call{.group = group};
            for (const Portion& portion : cut) {
                if (portion.group != group) continue;
                call.elements += portion.elements;
                if (call.elements > bucket_.limit) calls.push_back(std::exchange(call, {.group = group}));
            }
            if (call.elements > 0) calls.push_back(call);
        };
        if (cut.empty()) return calls;
        const RankGroups first = cut.front().group;
        add(first);
        add(first == copy_axes() ? RankGroups{"expert_data"} : copy_axes());
        return calls;
    }

    // What is reduced to each owner, in the order in which the bucket comes upon them.
    std::vector<Portion> by_owner() const {
        std::vector<Portion> calls;
        for (const Portion& portion : portions()) {
            const auto same = [&](const Portion& call) {
                return call.group == portion.group && call.owner == portion.owner;
            };
            const auto found = std::ranges::find_if(calls, same);
            if (found == calls.end()) {
                calls.push_back(portion);
            } else {
                found->elements += portion.elements;
            }
        }
        return calls;
    }

    void wait(Script& script) { script.finish(in_flight_); }

    ShardingInput input_;
    std::vector<StageTensor> tensors_;
    std::vector<std::size_t> first_;
    std::vector<OptimizerGroup> groups_;
    std::vector<Slice> slices_;
    bool overlaps_, hooked_;

    ContiguousBucket bucket_;
    HostCopies host_;
    std::vector<ActionId> in_flight_;  // reductions of the latest bucket, and copies
};

class DeepSpeedStage0 final : public DataParallel {
  public:
    explicit DeepSpeedStage0(const ShardingInput& input) : input_(input) {}

    void start_up(Script& script) override { broadcast_parameters(script, input_); }

    bool idle(const PassAt&) const override { return true; }

    void finish_gradients(Script& script) override {
        reduce_tied_embedding(script, input_, Through::deepspeed);
        for (const RankGroups group : reducing_groups()) {
            double filled = 0;
            for (const StageTensor& tensor : stage_tensors(input_.modules)) {
                if (!tensor.trained || group_of(tensor) != group) continue;
                filled += static_cast<double>(tensor.elements);
                if (filled <= deepspeed_bucket_elements) continue;
                reduce(script, group, filled);
                filled = 0;
            }
            if (filled > 0) reduce(script, group, filled);
        }
    }

    void before_optimizer(Script& script) override {
        if (input_.loss_scaling == LossScaling::dynamic) all_reduce_overflow(script, part_axes());
        all_reduce_gradient_norm(script, part_axes());
    }

    void after_optimizer(Script& script) override {
        if (input_.element_type == "bf16") gather_updated_parameters(script, input_);
    }

  private:
    void reduce(Script& script, RankGroups group, double elements) const {
        script.call(deepspeed_call(Collective::all_reduce, group, elements * input_.element_bytes,
                                   "all-reduce gradients", input_.element_type));
    }

    ShardingInput input_;
};

}  // namespace

std::unique_ptr<DataParallel> make_deepspeed_zero12(const ShardingInput& input) {
    return std::make_unique<DeepSpeedZero12>(input);
}

std::unique_ptr<DataParallel> make_deepspeed_stage0(const ShardingInput& input) {
    return std::make_unique<DeepSpeedStage0>(input);
}

}  // namespace weft
