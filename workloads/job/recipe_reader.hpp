// The key `fp8_recipe` of a job.
#pragma once

#include <string_view>

#include "sim/io/document.hpp"
#include "workloads/job/job.hpp"

namespace weft {

// As job files and Megatron-core name it.
std::string_view recipe_name(Casting recipe);

// Once the job's precision is known.
void read_recipe(Field& root, Job& job);
// What the device has not.
void check_recipe(Field& root, const Job& job, const Device& device, std::string_view machine);

// The same of units that are kept for communication.
void check_units(Field& root, const Job& job, const Device& device);

}  // namespace weft
