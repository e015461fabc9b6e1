// What is known of a candidate without simulating it: whether the job reader would take it, whether it fits in memory,
// and how long a step takes in closed form (README.md beside this file has the formula).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/schedule/schedule.hpp"
#include "workloads/script/script.hpp"

namespace weft {

// How long the slots of a pipeline take, stages waiting for one another: the schedule's bubble for any schedule,
// unequal stages and what they hand over, without a simulation.

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

// What the calls of a layout take on idle links: the alpha-beta cost of the algorithm that the library takes, with the
// groups that sit on the same node at the same work. Worked out once for each group and message.
class CallCosts {
  public:
    // Of jobs that differ in layout alone as far as communication goes. The topology must outlive this.
    CallCosts(const Topology& topology, Library library);
    CallCosts(const CallCosts&) = delete;
    CallCosts& operator=(const CallCosts&) = delete;

    const Library& library() const { return library_; }
    // The calls asked for from now on are those of this layout. Their times do not depend on layouts before.
    void lay_out(const Layout& layout);
    // As a rank of `stage` issues it; to stage call.peer if it crosses a boundary.
    Seconds time(const Call& call, std::uint32_t stage);

  private:
    struct Group {
        std::unique_ptr<GroupCosts> costs;
        std::map<std::pair<Collective, double>, Seconds> times;
    };
    using Groups = std::vector<std::vector<RankId>>;

    Groups groups(const Call& call, std::uint32_t stage) const;
    Group& find(const Call& call, std::uint32_t stage);

    const Topology& topology_;
    Library library_;
    std::unique_ptr<ChannelPlanner> planner_;
    Layout layout_;
    std::map<Groups, Group> known_;
    // Of the layout: by kind, and of boundaries by whether they leave the node.
    std::map<std::tuple<RankGroups, std::uint32_t, bool>, Group*> laid_;
};

// Reads a script as one rank alone would run it: computation and blocking calls one after another, what is issued on a
// lane for each set of groups, every call as long as on idle links, peers never late.
class ScriptClock {
  public:
    struct Reading {
        Seconds time;     // of the chain, from the start
        Seconds compute;  // of it: at work; the rest is spent in calls or waiting for them
    };

    // `interference`: Device::interference.
    ScriptClock(CallCosts& costs, std::uint32_t stage, double interference);

    // After all that the script says so far. What was read before must not have changed.
    Reading read(const Script& script);
    bool transfers() const { return busy_ > chain_; }  // while the chain goes on

  private:
    double call(const Call& call, double ready, double duration);
    double compute(double duration) const;  // its end

    CallCosts& costs_;
    std::uint32_t stage_;
    double interference_;
    std::vector<double> end_;        // of actions
    std::vector<double> durations_;  // of calls
    double chain_ = 0, computed_ = 0, host_ = 0;
    double stored_ = 0, loaded_ = 0;          // until when copies to the host and from it go on
    double busy_ = 0;                         // until when some lane transfers
    std::map<RankGroups, double> free_from_;  // of lanes
};

// What a stage takes on its own: the script that it would run, one micro-batch that is like most and one that is the
// step's last, read by a ScriptClock.
struct StageTimes {
    std::vector<PartTimes> chunks;  // of a micro-batch like most
    std::vector<double> joint;      // the forward's chunk x chunks + the backward's; empty without joint passes
    Seconds compute, exposed;       // of such a micro-batch on all chunks, forward and backward
    // Once per step: what precedes the first slot and follows the last, and by how much the passes that complete the
    // gradients, and those of other micro-batches between its chunks, are longer.
    Seconds once;
    Seconds once_compute;  // of it
};

// `stage` of the plan must have its chunks and modules; slots are not looked at.
StageTimes stage_times(const Plan& plan, std::uint32_t stage, CallCosts& costs);

// Mean over ranks: time = compute + exposed + waiting.
struct StepEstimate {
    Seconds time, compute, exposed, waiting;
};

// Relative, of the closed form against a simulation: the most in tests/workloads/search/screening_test.cpp.
inline constexpr double screening_error = 0.1;

struct MemoryVerdict {
    Bytes peak;  // of the fullest stage
    bool fits = false;
};

// Screens jobs that differ in knobs of a search alone. Remembers what they have in common; not for several threads.
class Screen {
  public:
    // The topology of the base's machine and nodes; both must outlive this.
    Screen(const Study& base, const Topology& topology);
    // With what other screens of the same library on the same topology know of calls already.
    Screen(const Study& base, std::shared_ptr<CallCosts> costs);

    // The job to look at next, for the caller to change to one that check_job() takes. Ask in this order:
    Job& job() { return plan_.job; }
    MemoryVerdict memory();  // Plan::fits'
    // Of the job whose memory was asked for last: estimate()'s time is no less than bound(), which costs far less. It
    // counts the work and the calls of layers, what crosses between stages, the pipeline's bubble and the optimizer.
    Seconds bound();
    StepEstimate estimate();

  private:
    using ShapeKey = std::tuple<const Schedule*, std::uint32_t, std::uint32_t, std::uint32_t, PassOrder>;
    using CostKey = std::tuple<Shard, double, Recomputation, std::uint32_t, bool>;
    // Split of the parameters, what stands apart and is copied; first layer, layers, predictions and ends of each part.
    using StageKey = std::tuple<std::array<std::uint32_t, 5>, Recomputation, std::vector<std::array<std::uint32_t, 4>>>;

    ShapeKey shape_key() const;
    CostKey cost_key() const;
    const std::vector<std::vector<Moment>>& moments();
    const PipelineClock& clock();
    const PartCosts& costs();
    // By stage the first that has equal chunks: these are worked out once.
    std::vector<std::uint32_t> first_equal(const std::vector<std::vector<Chunk>>& stages) const;
    // With the activations of this job; its optimizer is that of another. Good until memory() is asked again.
    Stage& stage(const std::vector<Chunk>& chunks);
    // Of a stage() of this job.
    FullestPass fullest_pass(const Stage& stage, const std::vector<Moment>& moments);
    // What one more layer adds to a pass of a model part, at the least, by Job::layer_place(); and of a whole part.
    std::vector<PartTimes> layer_times();
    PartTimes least(const Chunk& chunk, const std::vector<PartTimes>& layers) const;
    PipelineTimes crossings();  // what crosses alone
    void slow_down(PipelineTimes& pipeline, std::vector<StageTimes>& own) const;
    std::vector<double> crossing(const std::vector<Call>& calls, int step);

    Plan plan_;
    std::shared_ptr<CallCosts> call_costs_;
    std::vector<std::uint32_t> first_equal_;
    std::vector<Stage*> own_;                                       // by stage
    std::map<ShapeKey, std::vector<std::vector<Moment>>> moments_;  // by stage
    std::optional<std::pair<ShapeKey, PipelineClock>> clock_;       // the last one, of some MB
    std::map<CostKey, PartCosts> costs_;
    std::map<StageKey, Stage> stages_;
    std::map<std::pair<Shard, Recomputation>, HeldByLayers> held_by_;
    HeldByLayers* held_ = nullptr;  // of the job whose memory was asked for last
    // Of jobs whose states stay, by what it depends on: entries of stages_, moments_, held_by_.
    std::map<std::tuple<const Stage*, const std::vector<Moment>*, const HeldByLayers*>, FullestPass> passes_;
    Layout axes_;  // whose layers_ are
    std::map<std::tuple<CostKey, Setting, std::uint32_t>, std::vector<PartTimes>> layers_;
};

}  // namespace weft
