// What a plan is made of, one by one: for make_plan, and for a search over many plans that have parts in common.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "workloads/plan/plan.hpp"

namespace weft {

// Job, device as the job drives it, and machine with the library that the job asks for; nothing decided.
Plan empty_plan(const Study& study);

// From job and device of the plan. Depends on Job::shard(), the precision and the framework's accumulation() alone.
PartCosts part_costs(const Plan& plan);
// Another sum over lists of kernels, in place of their times.
using KernelSum = std::function<Seconds(std::span<const Kernel>)>;
PartCosts part_costs(const Plan& plan, const KernelSum& sum);

// A stage without its slots and memory: chunks, modules, parameters, optimizer. `layers`: of every model part.
Stage make_stage(const Plan& plan, std::uint32_t stage, std::span<const std::uint32_t> layers);

// Plan::host_bound, from the costs.
bool host_bound(const Plan& plan);

}  // namespace weft
