// Volumes of a study's job, whole and in parts.
#pragma once

#include <functional>

#include "tools/study/study_job.hpp"
#include "workloads/volume/volume.hpp"

namespace weft {

// The calls of the rank with tensor and data index 0 in pipeline stage `stage`.
VolumeTable stage_volume(const Study& study, std::uint32_t stage);

// Whether DeepSpeed's communication logger sees a call. It wraps deepspeed.comm, and GPT-NeoX calls torch.distributed
// for the reductions and broadcasts among tensor ranks (commit 4bc6670, megatron/mpu/mappings.py and data.py).
bool passes_logger(const VolumeRow& row);

// Wire bytes of one steady step in rows that are `wanted`.
Bytes steady_volume(const VolumeTable& table, const std::function<bool(const VolumeRow&)>& wanted);

// Bytes that the logger shows for one call: of a gather the shard, of others the whole tensor.
Bytes logged_size(const VolumeRow& row);

}  // namespace weft
