// The step of one job laid on the nodes of several: every rank by itself, and every link.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/program/program.hpp"
#include "sim/topology/link_move.hpp"
#include "topologies/fabric.hpp"
#include "workloads/job/job.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

// The nodes of several jobs, one job behind another, and the faults of links there.
struct JointNodes {
    std::vector<std::uint32_t> nodes{};  // of the machine
    std::vector<LinkFault> faults{};     // whose nodes and ranks count in this order

    // Behind the others; `own`: the machine's node that each of the job's is.
    void add(const Job& job, std::span<const std::uint32_t> own);
    // With those from `first` on, so many, before all others.
    JointNodes beginning_with(std::uint32_t first, std::uint32_t count, std::uint32_t ranks_per_node) const;
};

struct LaidStep {
    Program program;  // without routines, on a topology where the job's nodes come first
    LinkMove move;    // from there to topology_on(study, all)
    StepSize size;
};

// As the fabric of the job is but for its placement and faults. Throws RangeError as Machine::topology() does.
Topology topology_on(const Study& study, const JointNodes& all);
// The job has those of `all` from `first` on, as many as it asks for.
LaidStep lay_step(const Study& study, const JointNodes& all, std::uint32_t first, const SizeListener& on_size);
// What links of topology_on(study, all) carry in a step.
Table<LinkId, Bytes> carried(const LaidStep& step, const Topology& topology);

}  // namespace weft
