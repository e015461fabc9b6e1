#include "workloads/endurance/batch_ramp.hpp"

#include <fmt/format.h>

namespace weft {

std::string obstacle(const BatchRamp& ramp, std::uint32_t global, std::uint64_t unit) {
    if (ramp.start == 0 || ramp.increment == 0) return "start and increment are at least 1";
    if (ramp.start >= global) return fmt::format("it starts at {}, the job's batch is {}", ramp.start, global);
    if ((global - ramp.start) % ramp.increment != 0) {
        return fmt::format("increments of {} do not lead from {} to the job's batch of {}", ramp.increment, ramp.start,
                           global);
    }
    if (ramp.start % unit != 0 || ramp.increment % unit != 0) {
        return fmt::format("start and increment must be multiples of {}, a micro-batch on every data rank", unit);
    }
    return {};
}

std::vector<BatchStretch> stretches(const BatchRamp& ramp, std::uint32_t global) {
    const std::uint64_t sizes = (global - ramp.start) / ramp.increment;
    std::vector<BatchStretch> result;
    std::uint64_t consumed = 0;
    for (std::uint64_t i = 0; i < sizes; ++i) {
        const auto batch = static_cast<std::uint32_t>(ramp.start + i * ramp.increment);
        const std::uint64_t until = ramp.samples * (i + 1) / sizes;
        const std::uint64_t steps = until > consumed ? (until - consumed + batch - 1) / batch : 0;
        consumed += steps * batch;
        if (steps > 0) result.push_back({batch, steps});
    }
    return result;
}

}  // namespace weft
