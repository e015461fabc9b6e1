// Which nodes and circles of ways the messages of a part of a row pass.
#pragma once

#include "sim/collective/row_survey.hpp"

namespace weft {

// Fills what Part::messages tell: in the survey that the part is of.
void read_passes(RowSurvey& survey, RowSurvey::Part& part);

}  // namespace weft
