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

// What the step is bound by, in a sentence.
std::string bottleneck_text(const Explanation& explanation);
std::string explanation_part(const PageExplanation& page);  // HTML

}  // namespace weft
