// From a plan to a program: one list of operations per rank class.
#pragma once

#include <vector>

#include "sim/program/program.hpp"
#include "sim/topology/topology.hpp"
#include "workloads/plan.hpp"
#include "workloads/step/folding.hpp"

namespace weft {

struct Step {
    Program program;
    Table<RankClassId, std::uint32_t> stage;  // of each rank class
    Folding folding = Folding::exact;         // as was done
    std::vector<Split> splits;                // why there are more classes than stages
};

// One step of the kind that the job asks for; what comes before the first one.
Step build_step(const Plan& plan, const Topology& topology, Folding folding = Folding::stages);
Step build_start_up(const Plan& plan, const Topology& topology, Folding folding = Folding::stages);

}  // namespace weft
