// The scorecard for people.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/validate/scorecard.hpp"

namespace weft {

// A table of errors per set, predicted rows and fitted ones apart; then the `worst` worst predictions.
std::string validation_text(const Validation& validation, std::size_t worst);
std::string validation_rows_text(const Validation& validation);  // every row
std::string validation_list(std::span<const ValidationSet> sets);
std::string broken_bounds_text(const Validation& validation);  // a line each; empty if all hold
std::string verdict_text(const Validation& validation);        // of all bounds; what has none and is not judged

std::string signed_percent_text(double ratio);                       // "+4.2 %"
std::string quantity_text(std::string_view quantity, double value);  // "3.53 s", "66.5 GiB"

}  // namespace weft
