// How a validation set fares if nothing is fitted to it: the constants that its rows were fitted to are fitted to the
// rows of the other sets on the same device, to those marked fit if they tell them, else to all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/calibration/device_constants.hpp"
#include "tools/validate/scorecard.hpp"

namespace weft {

struct RefittedConstant {
    std::string device;
    DeviceConstant constant;
    double shipped = 0, refitted = 0;
    std::size_t rows = 0;  // that it was fitted to; 0: no row of another set tells it, and it is kept
    RowUse use{};          // fit, or predict where rows of either use were needed
    Determination determination{};
};

struct LeftOut {
    std::vector<RefittedConstant> constants;
    ErrorsByUse shipped, refitted;  // of the set
};

// `others` may have the set among them. Throws ConfigError for a constant that no device has, and with every mistake in
// any row's job.
LeftOut leave_out(const ValidationSet& set, std::span<const ValidationSet> others, unsigned threads);

}  // namespace weft
