// Volumes of a study's job, whole and in parts.
#pragma once

#include <functional>

#include "tools/study/study_job.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {

// The calls of the rank with tensor and data index 0 in pipeline stage `stage`.
VolumeTable stage_volume(const Study& study, std::uint32_t stage);

// Wire bytes of one steady step in rows that are `wanted`.
Bytes steady_volume(const VolumeTable& table, const std::function<bool(const VolumeRow&)>& wanted);

}  // namespace weft
