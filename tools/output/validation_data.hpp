// The scorecard for machines.
#pragma once

#include <string>

#include "tools/output/validation_text.hpp"

namespace weft {

// {"sets": [...], "rows": [...], "predict": {...}, "fit": {...}, "passed": ...}. The "job" of a row is a job file that
// `weft simulate` reads (of a collective on its own: its keys).
std::string validation_json(const Validation& validation);
// set,name,use,quantity,measured,predicted,error, and the TFLOP/s where a convention is asked for.
std::string validation_csv(const Validation& validation);

}  // namespace weft
