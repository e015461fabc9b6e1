// The data-parallel engines. Each writes the calls that its framework's sources issue, as one rank of a stage sees
// them.
#pragma once

#include <memory>

#include "workloads/data_parallel/sharding_input.hpp"

namespace weft {

// DeepSpeed 0.14.0. Stage 0 with bf16 is its BF16_Optimizer, which shards optimizer states as stage 1 does.
std::unique_ptr<DataParallel> make_deepspeed_stage0(const ShardingInput& input);
std::unique_ptr<DataParallel> make_deepspeed_zero12(const ShardingInput& input);  // input.zero is 1 or 2
std::unique_ptr<DataParallel> make_deepspeed_zero3(const ShardingInput& input);   // with ZeRO++ as its settings say
std::unique_ptr<DataParallel> make_torch_ddp(const ShardingInput& input);
std::unique_ptr<DataParallel> make_fsdp(const ShardingInput& input);          // version 1
std::unique_ptr<DataParallel> make_fully_shard(const ShardingInput& input);   // version 2, Megatron-FSDP
std::unique_ptr<DataParallel> make_megatron_ddp(const ShardingInput& input);  // zero 1: the distributed optimizer

}  // namespace weft
