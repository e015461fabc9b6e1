#include "workloads/explain/limit_shares.hpp"

#include <algorithm>
#include <optional>

#include "sim/base/check.hpp"

namespace weft {

LimitShares::LimitShares(const Study& study, const Step& step, const DeviceTwins& twins) {
    // Small enough that hardly any kernel changes the limit that it runs at, large enough for doubles.
    constexpr double step_of_limit = 1e-6;
    WEFT_CHECK(device_limits().size() == limits, "as many shares as a device has limits");
    const std::vector<Seconds>& own = step.program.work;
    Study higher = study;
    for (std::size_t limit = 0; limit < limits; ++limit) {
        higher.device = study.device;
        device_limits()[limit].speed_up(higher.device, 1.0 + step_of_limit);
        const std::optional<std::vector<Seconds>> work = twins.work(higher);
        if (!work) continue;
        std::vector<float>& shares = shares_[limit];
        shares.resize(own.size());
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (own[i].value <= 0.0) continue;
            const double faster = 1.0 - (*work)[i] / own[i];
            shares[i] = static_cast<float>(std::clamp(faster / step_of_limit * (1.0 + step_of_limit), 0.0, 1.0));
        }
    }
}

std::array<double, LimitShares::limits> LimitShares::of(std::uint32_t number) const {
    std::array<double, limits> shares{};
    for (std::size_t limit = 0; limit < limits; ++limit) {
        if (!shares_[limit].empty()) shares[limit] = shares_[limit][number];
    }
    return shares;
}

}  // namespace weft
