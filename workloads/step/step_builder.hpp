// From a plan to a program: one list of operations per rank class.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/program.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/groups/costs_pool.hpp"
#include "workloads/plan.hpp"
#include "workloads/step/work_origin.hpp"

namespace weft {

struct Step {
    Program program;
    Table<RankClassId, std::uint32_t> stage;  // of each rank class
    Folding folding = Folding::exact;         // as was done
    std::vector<Split> splits;                // why there are more classes than stages
    std::vector<WorkOrigin> work_origins;     // of Program::work, by its number
};

// One step of the kind that the job asks for; what comes before the first one. The pool is of the plan's library.
Step build_step(const Plan& plan, CostsPool& pool, Folding folding = Folding::stages);
Step build_start_up(const Plan& plan, CostsPool& pool, Folding folding = Folding::stages);

}  // namespace weft
