#include "workloads/step/cell_writer.hpp"

#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/framework/calls.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {

CellWriter::CellWriter(const Plan& plan, const Cell& cell, Groups& groups, ProgramBuilder& builder)
    : plan_(plan),
      job_(plan.job),
      stage_(plan.stages[cell.stage]),
      cell_(cell),
      groups_(groups),
      builder_(builder),
      forward_labels_{builder.label("forward layer"), builder.label("forward attention"), builder.label("forward MLP")},
      recompute_labels_{builder.label("recompute layer"), builder.label("recompute attention"),
                        builder.label("recompute MLP")},
      labels_{builder.label("recompute core"), builder.label("backward layer"), builder.label("backward MLP"),
              builder.label("backward attention"), builder.label("backward weight gradient")} {
    const Framework& framework = *job_.framework;
    const bool first = stage_.has_embedding(), last = stage_.has_head();
    const auto tensor = [&](const std::vector<Call>& calls) { return place(calls, Use::tensor); };
    layer_reduction_ = tensor(reduce_hidden(job_, "all-reduce layer"));
    if (first || last) load_batch_ = tensor(framework.load_batch(job_, cell.stage));
    if (first) embedding_forward_ = tensor(framework.embedding_forward(job_));
    if (last) head_forward_ = tensor(framework.head_forward(job_));
    if (last) head_backward_ = tensor(framework.head_backward(job_));
    if (!first) gather_received_ = tensor(framework.gather_received_activation(job_));
    if (!last) gather_before_backward_ = tensor(framework.gather_before_backward(job_));
    const std::vector<Call> activation = framework.send_activation(job_), gradient = framework.send_gradient(job_);
    if (!last) {
        forward_ports_.send = place(activation, Use::activation_out, "send ");
        backward_ports_.receive = place(gradient, Use::gradient_in, "receive ");
    }
    if (!first) {
        forward_ports_.receive = place(activation, Use::activation_in, "receive ");
        backward_ports_.send = place(gradient, Use::gradient_out, "send ");
    }
}

CellWriter::Placement CellWriter::place(const std::vector<Call>& calls, Use use, std::string_view prefix) {
    Placement placement;
    if (calls.empty()) return placement;
    const std::uint32_t set = groups_.find(cell_, use);
    set_[static_cast<std::size_t>(use)] = set;
    if (groups_.size(set) == 1) return placement;  // a group of one has nobody to talk to
    for (const Call& call : calls) {
        placement.push_back(
            {use, groups_.communication(set, call), builder_.label(std::string(prefix).append(call.label))});
    }
    return placement;
}

OpId CellWriter::compute(LabelId label, Seconds duration, Where where) {
    const Op op{OpKind::compute, lanes::compute, label, builder_.work(duration), where.micro_batch, where.layer};
    const OpId id = builder_.add(op, frontier_);
    frontier_.assign(1, id);
    return id;
}

OpId CellWriter::exchange(const Placed& placed, Where where, const std::vector<OpId>& after) {
    const auto use = static_cast<std::size_t>(placed.use);
    const ExchangeId id = groups_.occurrence(set_[use], issued_[use]++, placed.communication);
    const Op op{OpKind::exchange,  lane_of(placed.use), placed.label, static_cast<std::uint32_t>(id),
                where.micro_batch, where.layer};
    return builder_.add(op, after);
}

void CellWriter::blocking(const Placement& placement, Where where) {
    for (const Placed& placed : placement) frontier_.assign(1, exchange(placed, where, frontier_));
}

// Between a forward and a backward slot the neighbour's order decides: if it runs `next` before it can take what
// `done` has to send, waiting for it to take that first would never end.
bool CellWriter::receives_first(const Slot& done, const Slot& next) const {
    if (done.kind != SlotKind::forward || next.kind != SlotKind::backward || stage_.has_head()) return false;
    const std::vector<Slot>& theirs = plan_.stages[cell_.stage + 1].slots;
    return std::ranges::find(theirs, next) < std::ranges::find(theirs, done);
}

void CellWriter::hand_over(const Slot* done, const Slot* next) {
    static const Placement nothing;
    const Placement& send = done != nullptr ? ports(done->kind).send : nothing;
    const Placement& receive = next != nullptr ? ports(next->kind).receive : nothing;
    const Where sent{done != nullptr ? done->micro_batch : 0, 0}, received{next != nullptr ? next->micro_batch : 0, 0};
    if (job_.framework->handover == Handover::paired && done != nullptr && next != nullptr &&
        done->kind != next->kind) {
        const std::vector<OpId> start = frontier_;
        blocking(send, sent);
        const std::vector<OpId> after_send = frontier_;
        frontier_ = start;
        blocking(receive, received);
        if (!send.empty()) frontier_.insert(frontier_.end(), after_send.begin(), after_send.end());
    } else if (done != nullptr && next != nullptr && receives_first(*done, *next)) {
        blocking(receive, received);
        blocking(send, sent);
    } else {
        blocking(send, sent);
        blocking(receive, received);
    }
}

void CellWriter::layer_forward(Where where, const ForwardLabels& labels) {
    const PartCosts& costs = plan_.costs;
    if (layer_reduction_.empty() || job_.framework->forward_reductions(job_) == 1) {
        compute(labels.layer, costs.attention_forward + costs.mlp_forward, where);
        blocking(layer_reduction_, where);
        return;
    }
    compute(labels.attention, costs.attention_forward, where);
    blocking(layer_reduction_, where);
    compute(labels.mlp, costs.mlp_forward, where);
    blocking(layer_reduction_, where);
}

// A backward part whose input gradient is summed over the tensor ranks, under its weight gradient if the framework can.
void CellWriter::reduced_backward(LabelId label, Seconds duration, Seconds weight_gradient, Where where) {
    if (layer_reduction_.empty() || !job_.framework->reduces_under_weight_gradient) {
        compute(label, duration, where);
        blocking(layer_reduction_, where);
        return;
    }
    const OpId input_gradient = compute(label, duration - weight_gradient, where);
    const OpId reduction = exchange(layer_reduction_.front(), where, {input_gradient});
    compute(labels_.weight_gradient, weight_gradient, where);
    frontier_.push_back(reduction);
}

void CellWriter::layer_backward(Where where) {
    const PartCosts& costs = plan_.costs;
    if (job_.recompute == Recompute::full) layer_forward(where, recompute_labels_);
    if (layer_reduction_.empty()) {
        if (job_.recompute == Recompute::selective) compute(labels_.recompute_core, costs.core_forward, where);
        compute(labels_.backward_layer, costs.mlp_backward + costs.attention_backward, where);
        return;
    }
    reduced_backward(labels_.backward_mlp, costs.mlp_backward, costs.mlp_weight_gradient, where);
    if (job_.recompute == Recompute::selective) compute(labels_.recompute_core, costs.core_forward, where);
    reduced_backward(labels_.backward_attention, costs.attention_backward, costs.attention_weight_gradient, where);
}

void CellWriter::forward(std::uint32_t micro_batch) {
    const Where start{micro_batch, stage_.first_layer};
    blocking(gather_received_, start);
    blocking(load_batch_, start);
    if (stage_.has_embedding()) {
        compute(builder_.label("forward embedding"), plan_.costs.embedding_forward, start);
        blocking(embedding_forward_, start);
    }
    for (std::uint32_t i = 0; i < stage_.layers; ++i)
        layer_forward({micro_batch, stage_.first_layer + i}, forward_labels_);
    if (stage_.has_head()) {
        const Where end{micro_batch, stage_.first_layer + stage_.layers};
        compute(builder_.label("forward head"), plan_.costs.head_forward, end);
        blocking(head_forward_, end);
    }
}

void CellWriter::reduce_gradients_after(std::size_t part) {
    while (next_bucket_ < stage_.buckets.size() && stage_.buckets[next_bucket_].complete_after == part) {
        const Call call = job_.framework->reduce_bucket(job_, stage_.buckets[next_bucket_++].elements);
        const Placement placement = place({call}, Use::data);
        for (const Placed& placed : placement) pending_.push_back(exchange(placed, {}, frontier_));
    }
}

void CellWriter::backward(std::uint32_t micro_batch, Gradients gradients) {
    const bool overlap = gradients == Gradients::reduce && job_.gradient_overlap == Overlap::on;
    std::size_t part = 0;
    const auto part_done = [&] {
        if (overlap) reduce_gradients_after(part);
        ++part;
    };
    const Where end{micro_batch, stage_.first_layer + stage_.layers};
    blocking(gather_before_backward_, end);
    if (stage_.has_head()) {
        compute(builder_.label("backward head"), plan_.costs.head_backward, end);
        blocking(head_backward_, end);
        part_done();
    }
    for (std::uint32_t i = stage_.layers; i-- > 0;) {
        layer_backward({micro_batch, stage_.first_layer + i});
        part_done();
    }
    if (stage_.has_embedding()) {
        compute(builder_.label("backward embedding"), plan_.costs.embedding_backward, {micro_batch, 0});
        part_done();
    }
}

void CellWriter::step_calls(const std::vector<Call>& calls) {
    for (const Call& call : calls) {
        switch (call.group) {
            case GroupKind::data:
                blocking(place({call}, Use::data), {});
                break;
            case GroupKind::model:
                blocking(place({call}, Use::model), {});
                break;
            case GroupKind::embedding:
                if (stage_.has_embedding() || stage_.has_head()) {
                    blocking(place({call}, Use::embedding), {});
                }
                break;
            case GroupKind::tensor:
                blocking(place({call}, Use::tensor), {});
                break;
            case GroupKind::boundary:
                WEFT_CHECK(false, "a step ends without sends between stages");
        }
    }
}

// Gradient reduction that did not overlap, the checks before the optimizer, the optimizer, and what follows it.
void CellWriter::finish_step() {
    const Framework& framework = *job_.framework;
    step_calls(framework.before_reduction(job_));
    while (next_bucket_ < stage_.buckets.size()) {
        step_calls({framework.reduce_bucket(job_, stage_.buckets[next_bucket_++].elements)});
    }
    frontier_.insert(frontier_.end(), pending_.begin(), pending_.end());
    step_calls(framework.before_optimizer(job_));
    compute(builder_.label("optimizer"), stage_.optimizer, {});
    step_calls(framework.after_optimizer(job_, stage_.matrices, stage_.vectors));
}

void CellWriter::write() {
    const std::vector<Slot>& slots = stage_.slots;
    const auto last_backward =
        std::find_if(slots.rbegin(), slots.rend(), [](const Slot& slot) { return slot.kind == SlotKind::backward; });
    const Slot* done = nullptr;
    for (const Slot& slot : slots) {
        hand_over(done, &slot);
        if (slot.kind == SlotKind::forward) {
            forward(slot.micro_batch);
        } else {
            backward(slot.micro_batch, &slot == &*last_backward ? Gradients::reduce : Gradients::keep);
        }
        done = &slot;
    }
    hand_over(done, nullptr);
    finish_step();
}

}  // namespace weft
