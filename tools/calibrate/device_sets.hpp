// Rows of validation sets as measurements of a device: each is a simulated step, or more than one quantity of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/calibrate/device_fit.hpp"
#include "tools/validate/set.hpp"

namespace weft {

// The rows of `sets` that ran on a device of this name, and in them what depends on its constants: times and rates, not
// bytes; no disturbed ones. Those marked predict are held, and those that `holds` name ("name=..."). The sources refer
// to `sets`. Throws ConfigError with every mistake in any row's job.
std::vector<DeviceFitSource> set_sources(std::span<const ValidationSet> sets, const Device& device,
                                         const std::vector<HeldCell>& holds);

}  // namespace weft
