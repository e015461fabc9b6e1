// The step of one job laid on the nodes of several: every rank by itself, and every link.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/program/program.hpp"
#include "sim/topology/link_move.hpp"
#include "workloads/job.hpp"
#include "workloads/step/step_builder.hpp"

namespace weft {

struct LaidStep {
    Program program;  // without routines, on a topology where the job's nodes come first
    LinkMove move;    // from there to topology_on(study, nodes)
    StepSize size;
};

// Of the machine's nodes in this order, as the fabric of the job is but for its placement.
Topology topology_on(const Study& study, std::vector<std::uint32_t> nodes);
// The job has those of `nodes` from `first` on, as many as it asks for.
LaidStep lay_step(const Study& study, std::span<const std::uint32_t> nodes, std::uint32_t first,
                  const SizeListener& on_size);
// What links of topology_on(study, nodes) carry in a step.
Table<LinkId, Bytes> carried(const LaidStep& step, const Topology& topology);

}  // namespace weft
