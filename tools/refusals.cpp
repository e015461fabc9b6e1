#include "tools/refusals.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "sim/io/units.hpp"
#include "tools/job_options.hpp"
#include "tools/output/report_text.hpp"
#include "tools/output/validation_text.hpp"
#include "tools/validate/validity.hpp"

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

std::string memory_refusal(const Plan& plan, const std::vector<MemoryAdvice>& advice, std::string_view remedy) {
    return fmt::format(
        "does not fit in memory: stage {} needs at least {} of {}{}\n{}{}measured runs of this kind:\n{}",
        plan.fullest_stage(), to_text(plan.stages[plan.fullest_stage()].memory.least()), to_text(plan.device.memory),
        remedy, memory_text(plan), advice_text(plan, advice), memory_validity_text(validity_of(plan)));
}

bool refused_for_memory(const po::variables_map& arguments, const Plan& plan, const std::vector<MemoryAdvice>& advice) {
    if (plan.fits()) return false;
    const bool allowed = arguments["allow-oom"].as<bool>();
    const std::string path = job_path(arguments);
    fmt::print(stderr, "{}{}{}", path, path.empty() ? "" : ": ",
               memory_refusal(plan, advice, allowed ? "" : " (--allow-oom simulates it all the same)"));
    return !allowed;
}

bool refused_for_memory(const po::variables_map& arguments, const Study& study, const Plan& plan) {
    return !plan.fits() && refused_for_memory(arguments, plan, memory_advice(study));
}

}  // namespace weft
