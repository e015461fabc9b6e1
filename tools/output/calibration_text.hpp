// What a calibration found, for people and for programs.
#pragma once

#include <string>

#include "tools/calibrate/rows.hpp"
#include "tools/collective/comparison.hpp"
#include "topologies/calibration/calibration.hpp"

namespace weft {

struct CalibrationErrors {
    ErrorSummary fitted_before, fitted_after, held_before, held_after;
};
CalibrationErrors calibration_errors(const Calibration& calibration, const MeasuredRows& rows);

std::string calibration_text(const Calibration& calibration, const MeasuredRows& rows);
std::string calibration_json(const Calibration& calibration, const MeasuredRows& rows);

// A line for each fitted row that the fit misses by more than half: the table may hold an outlier or another algorithm.
std::string calibration_warnings(const Calibration& calibration, const MeasuredRows& rows);

// "fitted to 29 rows of all_reduce among 8 ranks on 1 node (table.csv), median error 3.1 %"
std::string provenance(const Calibration& calibration, const MeasuredRows& rows);

}  // namespace weft
