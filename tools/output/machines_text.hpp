// Several machines side by side, for people and for programs.
#pragma once

#include <span>
#include <string>

#include "tools/plan/questions.hpp"

namespace weft {

std::string machines_text(std::span<const MachineAnswer> answers);
// {"machines": [{"machine", "gpus", "nodes", "layout": {key: value}, "step_time_s", ..., "assumptions"}]}; of a machine
// without a layout what speaks against all, as "refused".
std::string machines_json(std::span<const MachineAnswer> answers);

}  // namespace weft
