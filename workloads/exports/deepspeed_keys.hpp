// What a job says that DeepSpeed's configuration has keys for: shared by its own file and GPT-NeoX's.
#pragma once

#include <string>
#include <vector>

#include "sim/io/draft.hpp"
#include "workloads/exports/export.hpp"

namespace weft {

// Batch, precision, ZeRO and checkpointing. What they cannot say goes to `unsayable`.
Draft deepspeed_keys(const Study& study, Unsayable& unsayable);

}  // namespace weft
