// What figures of the study show of a job.
#pragma once

#include <string_view>

#include "tools/study/study_figures.hpp"

namespace weft::measures {

// By its name in figures.json. Where a job cannot run, the value is missing and the note says why.
const Measure& find_measure(std::string_view name);

}  // namespace weft::measures
