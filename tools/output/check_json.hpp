// What `weft check` found, for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "sim/io/diagnostics.hpp"
#include "workloads/formats/format.hpp"
#include "workloads/plan/advice.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

// {"file", "line", "column", "key", "message", "suggestion"}: what is not known is left out.
nlohmann::ordered_json diagnostic_json(const Diagnostic& diagnostic);
nlohmann::ordered_json diagnostics_json(std::span<const Diagnostic> diagnostics);
nlohmann::ordered_json notes_json(std::span<const FormatNote> notes);

nlohmann::ordered_json advice_json(std::span<const MemoryAdvice> advice);
// Of the fullest stage, against what the device has.
nlohmann::ordered_json planned_memory_json(const Plan& plan, std::span<const MemoryAdvice> advice);

}  // namespace weft
