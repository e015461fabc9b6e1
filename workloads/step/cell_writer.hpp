// Writes the operations of one rank class: slots of the schedule with the framework's calls between and inside them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/program/program_builder.hpp"
#include "workloads/plan.hpp"
#include "workloads/step/groups.hpp"

namespace weft {

class CellWriter {
  public:
    CellWriter(const Plan& plan, const Cell& cell, Groups& groups, ProgramBuilder& builder);
    void write();

  private:
    // A call resolved once per class: where it goes and what it is.
    struct Placed {
        Use use{};
        CommunicationId communication{};
        LabelId label{};
    };
    using Placement = std::vector<Placed>;
    struct Where {
        std::uint32_t micro_batch = 0, layer = 0;
    };
    // What one kind of slot sends to, and receives from, its neighbours.
    struct Ports {
        Placement send, receive;
    };
    // Interned once: a step has a million operations of these.
    struct ForwardLabels {
        LabelId layer, attention, mlp;
    };
    struct LayerLabels {
        LabelId recompute_core, backward_layer, backward_mlp, backward_attention, weight_gradient;
    };
    enum class Gradients : std::uint8_t { keep, reduce };  // whether this backward is the step's last

    Placement place(const std::vector<Call>& calls, Use use, std::string_view prefix = "");
    Ports& ports(SlotKind kind) { return kind == SlotKind::forward ? forward_ports_ : backward_ports_; }

    OpId compute(LabelId label, Seconds duration, Where where);
    OpId exchange(const Placed& placed, Where where, const std::vector<OpId>& after);
    void blocking(const Placement& placement, Where where);

    void hand_over(const Slot* done, const Slot* next);
    bool receives_first(const Slot& done, const Slot& next) const;
    void layer_forward(Where where, const ForwardLabels& labels);
    void reduced_backward(LabelId label, Seconds duration, Seconds weight_gradient, Where where);
    void layer_backward(Where where);
    void forward(std::uint32_t micro_batch);
    void backward(std::uint32_t micro_batch, Gradients gradients);
    void reduce_gradients_after(std::size_t part);
    void step_calls(const std::vector<Call>& calls);  // once per step, blocking
    void finish_step();

    const Plan& plan_;
    const Job& job_;
    const Stage& stage_;
    Cell cell_;
    Groups& groups_;
    ProgramBuilder& builder_;
    ForwardLabels forward_labels_, recompute_labels_;
    LayerLabels labels_;
    std::array<std::uint32_t, uses> set_{};
    std::array<std::uint32_t, uses> issued_{};
    std::vector<OpId> frontier_;  // what the next operation of this rank waits for
    std::vector<OpId> pending_;   // gradient reductions under way
    std::size_t next_bucket_ = 0;
    Ports forward_ports_, backward_ports_;
    Placement layer_reduction_, load_batch_, embedding_forward_, head_forward_, head_backward_, gather_received_,
        gather_before_backward_;
};

}  // namespace weft
