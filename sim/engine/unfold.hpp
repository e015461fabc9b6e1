// Programs and timelines in which every run of a routine is written out, op by op, for whoever looks at single ops.
#pragma once

#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

// The same program without routines. Runs to the same times.
Program unfold(const Program& program);

// The timeline of unfold(program), from that of `program`.
Timeline unfold(const Program& program, Timeline timeline);

}  // namespace weft
