// How much memory this process may still take.
#pragma once

#include <filesystem>

#include "sim/base/quantity.hpp"

namespace weft {

// What the machine has available, or what the control groups of the process leave it, if that is less (both versions of
// Linux: man 7 cgroups). Pages of files that can be dropped count as free. Infinite where neither says anything.
// `root`: where /proc and /sys are.
Bytes free_memory(const std::filesystem::path& root = "/");

}  // namespace weft
