// What is known of a candidate without simulating it: whether the job reader would take it, whether it fits in memory,
// and how long a step takes in closed form (README.md beside this file has the formula).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "workloads/plan/plan.hpp"
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

    // The job to look at next, for the caller to change. Ask in this order:
    Job& job() { return plan_.job; }
    std::vector<JobError> errors() const;  // check_job's
    MemoryVerdict memory();                // Plan::fits', of a job without errors
    StepEstimate estimate();               // of the job whose memory was asked for last

  private:
    using ShapeKey = std::tuple<const Schedule*, std::uint32_t, std::uint32_t, std::uint32_t, PassOrder>;
    using CostKey = std::tuple<Shard, double, Recomputation>;

    ShapeKey shape_key() const;
    const std::vector<std::vector<Moment>>& moments();
    const PipelineClock& clock();
    const PartCosts& costs();
    // By stage the first that has equal chunks: these are worked out once.
    std::vector<std::uint32_t> first_equal(const std::vector<std::uint32_t>& layers) const;
    void slow_down(PipelineTimes& pipeline, std::vector<StageTimes>& own) const;
    std::vector<double> crossing(const std::vector<Call>& calls, int step);

    Plan plan_;
    const MachineInfo& machine_;
    std::shared_ptr<CallCosts> call_costs_;
    std::vector<std::uint32_t> first_equal_;
    std::map<ShapeKey, std::vector<std::vector<Moment>>> moments_;  // by stage
    std::map<ShapeKey, PipelineClock> clocks_;
    std::map<CostKey, PartCosts> costs_;
};

}  // namespace weft
