// A job as the arguments of Megatron-LM's pretrain_gpt.py.
#pragma once

#include <string>

#include "workloads/exports/export.hpp"

namespace weft {

// The Bash arrays MODEL_ARGS, LAYOUT_ARGS and TRAINING_ARGS, an argument a line. Flags as of Megatron-core,
// megatron/training/arguments.py. What they cannot say goes to `unsayable`.
std::string megatron_arguments(const Study& study, Unsayable& unsayable);

}  // namespace weft
