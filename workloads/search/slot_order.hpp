// How long the slots of a pipeline take, stages waiting for one another: the schedule's bubble for any schedule,
// unequal stages and what they hand over, without a simulation.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/schedule/schedule.hpp"

namespace weft {

// What one micro-batch takes on a model part of a stage.
struct PartTimes {
    double forward = 0, input_backward = 0, weight_backward = 0, backward = 0;  // seconds
    double of(SlotKind kind) const;
};

struct PipelineTimes {
    std::uint32_t chunks = 1;
    std::vector<PartTimes> parts;           // stage x chunks + chunk
    std::vector<double> forward_crossing;   // from each stage to the one that follows on the path; seconds
    std::vector<double> backward_crossing;  // from each stage to the one before it on the path
    // A forward and a backward that run as one: (stage x chunks + the forward's) x chunks + the backward's; where none
    // do, nothing.
    std::vector<double> joint{};
};

// The slots of all stages in an order in which every one comes after what it waits for.
//
// Under blocking hand-over a transfer begins when both sides have reached it, and holds both: the receiver has when its
// previous slot is done, and if that was of the same direction as the next, when its own output is away. Where
// hand-over runs beside computation, a transfer begins when its slot is done and holds nobody.
class SlotOrder {
  public:
    // LogicError if the schedule cannot run the shape, or its slots wait for one another for ever.
    SlotOrder(const Schedule& schedule, const PipelineShape& shape);

    // The end of each stage's last slot, in seconds from the start of the first one.
    std::vector<double> ends(const PipelineTimes& times) const;
    // All slots of the stage that works the longest, in seconds.
    double busiest(const PipelineTimes& times) const;

  private:
    friend class SlotOrderer;
    static constexpr std::uint32_t none = 0xffffffff;
    // All slots are numbered, stage by stage.
    struct Numbered {
        std::uint32_t stage = 0, chunk = 0;
        SlotKind kind{};
        bool turns = false;          // the slot before it on the stage is of the other direction
        std::uint32_t needs = none;  // slot of another place whose output it takes
        std::uint32_t feeds = none;  // slot that takes its output
        bool receives = false;       // from another stage
        bool sends = false;          // to another stage
        std::uint32_t other = none;  // of a joint pass: a forward's backward, which comes next, or the reverse
    };
    // A slot that runs, or under blocking hand-over, one whose output travels.
    struct Step {
        std::uint32_t slot = 0;
        enum What : std::uint8_t { runs, travels } what{};
    };

    // Of a joint pass, the forward takes the time of both.
    double duration(const Numbered& slot, const PipelineTimes& times) const;
    bool is_first(std::uint32_t slot) const { return slot == 0 || slots_[slot - 1].stage != slots_[slot].stage; }

    Schedule::Handover handover_;
    std::uint32_t stages_;
    std::vector<Numbered> slots_;
    std::vector<Step> steps_;
};

// The ends after all micro-batches of the shape. Long pipelines settle into a rhythm: from the times with 3 p + m mod p
// and with 4 p + m mod p micro-batches follow those with m. Where stages are unequal the rhythm may come later; it is
// never faster than the busiest stage.
class PipelineClock {
  public:
    // Passes of micro-batches through model parts, beyond which a pipeline counts as long.
    static constexpr std::uint64_t most_lined_up = 4096;

    PipelineClock(const Schedule& schedule, const PipelineShape& shape);
    std::vector<double> ends(const PipelineTimes& times) const;

  private:
    std::vector<SlotOrder> orders_;  // one, or a shorter and a longer one
    double periods_ = 0;             // from the shorter to all, in steps from the shorter to the longer
};

}  // namespace weft
