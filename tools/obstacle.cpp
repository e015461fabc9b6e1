#include "tools/obstacle.hpp"

#include <fmt/format.h>

#include "sim/io/units.hpp"

namespace weft {

std::string obstacle(const ConfigError& error) {
    std::string reason;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
        reason += (reason.empty() ? "" : "; ") + diagnostic.key + ": " + diagnostic.message;
    }
    return reason;
}

std::string obstacle(const Plan& plan) {
    if (plan.fits()) return "";
    return fmt::format("does not fit: stage {} needs at least {} of {}", plan.fullest_stage(),
                       to_text(plan.stages[plan.fullest_stage()].memory.least()), to_text(plan.device.memory));
}

}  // namespace weft
