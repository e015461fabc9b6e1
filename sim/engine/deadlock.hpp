// Why a run cannot go on, in words.
#pragma once

#include <string>

#include "sim/base/table.hpp"
#include "sim/program/program.hpp"

namespace weft {

// "stage 0: send activation #3", with ", part 2" if the op is a part other than 0.
std::string describe(const Program& program, OpId op);

// The circle of ops that wait for one another, one line each, of a program that cannot end. That does not depend on how
// long things take.
std::string explain_deadlock(const Program& program);

}  // namespace weft
