// Why a run cannot go on, in words.
#pragma once

#include <string>

#include "sim/base/table.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/program/program.hpp"

namespace weft {

// "stage 0: send activation #3", with ", part 2" if the op is a part other than 0.
std::string describe(const Program& program, OpId op);

// The circle of ops that wait for one another, one line each. `spans` is as the run left it: Instant::never() where a
// thing has not happened. At least one op has not ended.
std::string explain_deadlock(const Program& program, const Table<OpId, Span>& spans);

}  // namespace weft
