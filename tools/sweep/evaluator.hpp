// Simulates the points of a sweep.
#pragma once

#include "sim/io/document.hpp"
#include "tools/sweep/columns.hpp"
#include "tools/sweep/request.hpp"
#include "workloads/groups/prepared_topology.hpp"
#include "workloads/job/study_sources.hpp"

namespace weft {

// Every point is an independent simulation. What points share is read only: the job's text, read once with what is set
// for all points, and the machines, models and devices that jobs name. Topologies go from one point to the next that
// runs on the same nodes and fabric. Any thread may ask.
class PointEvaluator {
  public:
    // Throws ConfigError: a job file that cannot be read. `request` must outlive this.
    explicit PointEvaluator(const SweepRequest& request);

    // `point` of the grid. The user's mistakes, and memory, are reasons.
    PointResult evaluate(std::size_t point) const;

  private:
    PointResult simulate(const Study& study) const;

    const SweepRequest& request_;
    Document job_;
    StudySources sources_;
    mutable TopologyPool topologies_;
};

}  // namespace weft
