// The part of a page that says why a step takes as long as it does, and what would change it.
#pragma once

#include <span>
#include <string>

#include "tools/explain/job_explanation.hpp"

namespace weft {

// What a page tells of it. Without simulated changes, of the critical path alone.
struct PageExplanation {
    const Explanation& explanation;
    std::span<const ExplainedKnob> knobs{};
    std::span<const ExplainedSetting> settings{};
    std::string command;  // "weft simulate job.json": what a setting is added to
};

std::string explanation_part(const PageExplanation& page);  // HTML

// The rooflines of device and fabric: a picture of kernel classes under their roofs, and tables.
// Log-log: FLOP/s by FLOP/B, a dot per class of kernels with products, as large as its time. Empty without such.
std::string roofline_svg(const DeviceRoofline& device);
std::string rooflines_part(const Rooflines& rooflines);

}  // namespace weft
