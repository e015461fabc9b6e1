// From a plan to a program: one list of operations per rank class.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program/program.hpp"
#include "workloads/plan.hpp"
#include "workloads/step/costs_pool.hpp"
#include "workloads/step/folding.hpp"

namespace weft {

struct Step {
    Program program;
    Table<RankClassId, std::uint32_t> stage;  // of each rank class
    Folding folding = Folding::exact;         // as was done
    bool is_sampled = false;                  // patterns list a sample of the machine's links
    std::vector<Split> splits;                // why there are more classes than stages
};

// Which links of the machine patterns list.
enum class Links : std::uint8_t {
    automatic,  // a sample where it pays
    sample,     // a sample where there is one: where ranks of a stage are one class and groups sit alike on a tree
    all,
};

// One step of the kind that the job asks for; what comes before the first one. The pool is of the plan's library.
Step build_step(const Plan& plan, CostsPool& pool, Folding folding = Folding::stages, Links links = Links::automatic);
Step build_start_up(const Plan& plan, CostsPool& pool, Folding folding = Folding::stages,
                    Links links = Links::automatic);

}  // namespace weft
