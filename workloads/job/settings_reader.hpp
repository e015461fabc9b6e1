// The framework objects of a job file.
#pragma once

#include "sim/io/document.hpp"
#include "workloads/job/settings.hpp"

namespace weft {

// Each reads the object under its key, if there is one, refuses unknown keys, and records mistakes in the document.
void read_settings(Field& root, DeepSpeedSettings& settings);
void read_settings(Field& root, MegatronSettings& settings);
void read_settings(Field& root, FsdpSettings& settings);
void read_settings(Field& root, DdpSettings& settings);
void read_settings(Field& root, ExpertSettings& settings);

}  // namespace weft
