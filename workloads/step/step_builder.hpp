// From a plan to a program: one list of operations per rank class.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/network/alike_links.hpp"
#include "sim/program/program.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/groups/costs_pool.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/step/script_placer.hpp"
#include "workloads/step/step_size.hpp"

namespace weft {

struct Step {
    Program program;
    AlikeLinks alike;                         // of its patterns
    Table<RankClassId, std::uint32_t> stage;  // of each rank class
    Folding folding = Folding::exact;         // as was done
    std::vector<Split> splits;                // why there are more classes than stages
    std::vector<WorkOrigin> work_origins;     // of Program::work, by its number
};

// Told how large a step will be before its tables are made; throws to refuse it.
using SizeListener = std::function<void(const StepSize&)>;

struct StepOptions {
    Folding folding = Folding::stages;
    SizeListener on_size{};
    bool merges_alike_links = true;  // sim/network/alike_links; only who adds more traffic keeps them apart
};

// One step of the kind that the job asks for; what comes before the first one. The pool is of the plan's library.
Step build_step(const Plan& plan, CostsPool& pool, const StepOptions& options = {});
Step build_start_up(const Plan& plan, CostsPool& pool, const StepOptions& options = {});
// How large build_step would find it, and how it would be folded.
struct SizedStep {
    StepSize size;
    Folding folding = Folding::exact;
};
SizedStep size_step(const Plan& plan, CostsPool& pool, const StepOptions& options = {});

}  // namespace weft
