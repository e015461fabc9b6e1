// Predictions beside measurements, for people and as pictures.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tools/collective/comparison.hpp"
#include "tools/output/chart.hpp"

namespace weft {

std::string comparison_text(const Comparison& comparison, const std::string& file);
std::string summary_text(const ErrorSummary& summary);  // "error of 29 rows: median 8.1 %, ..."

// Time over size, both logarithmic; with what was measured, if anything.
Chart collective_chart(const CollectiveRequest& request, std::span<const CollectiveRow> rows,
                       const std::optional<Comparison>& comparison);

}  // namespace weft
