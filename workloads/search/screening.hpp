// What is known of a candidate without simulating it: whether the job reader would take it, whether it fits in memory,
// and how long a step takes in closed form (README.md beside this file has the formula).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/plan/plan.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/schedule/schedule.hpp"
#include "workloads/search/call_costs.hpp"
#include "workloads/search/slot_order.hpp"

namespace weft {

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
    HeldByLayers& held() { return held_[{plan_.job.shard(), plan_.job.recompute}]; }
    // By stage the first that has equal chunks: these are worked out once.
    std::vector<std::uint32_t> first_equal(const std::vector<std::vector<Chunk>>& stages) const;
    // With the activations of this job; its optimizer is that of another. Good until memory() is asked again.
    Stage& stage(const std::vector<Chunk>& chunks);
    // What one more layer adds to a pass of a model part, at the least, by Job::layer_place(); and of a whole part.
    std::vector<PartTimes> layer_times();
    PartTimes least(const Chunk& chunk, const std::vector<PartTimes>& layers) const;
    PipelineTimes pipeline();  // what crosses alone
    void slow_down(PipelineTimes& pipeline, std::vector<StageTimes>& own) const;
    std::vector<double> crossing(const std::vector<Call>& calls, int step);

    Plan plan_;
    std::shared_ptr<CallCosts> call_costs_;
    std::vector<std::uint32_t> first_equal_;
    std::vector<Stage*> own_;                                       // by stage
    std::map<ShapeKey, std::vector<std::vector<Moment>>> moments_;  // by stage
    std::map<ShapeKey, PipelineClock> clocks_;
    std::map<CostKey, PartCosts> costs_;
    std::map<StageKey, Stage> stages_;
    std::map<std::pair<Shard, Recomputation>, HeldByLayers> held_;
    Layout axes_;  // whose layers_ are
    std::map<std::tuple<CostKey, Setting, std::uint32_t>, std::vector<PartTimes>> layers_;
};

}  // namespace weft
