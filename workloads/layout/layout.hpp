// How many ranks share each kind of parallelism, and in which order they sit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/layout/rank_grid.hpp"
#include "workloads/script/call.hpp"

namespace weft {

// How layers are dealt to pipeline stages.
enum class StageSplit : std::uint8_t {
    framework,  // by the framework's own rule
    even,       // the same number everywhere (Megatron-DeepSpeed's partition by `type:transformer`)
    ends,       // one layer fewer on the first and on the last, for embedding and output layer
};

struct Layout {
    std::uint32_t tensor = 1;
    std::uint32_t context = 1;
    std::uint32_t pipeline = 1;
    std::uint32_t data = 1;
    std::uint32_t expert = 1;          // ranks that share the experts of a layer, out of tensor x context x data
    std::uint32_t expert_tensor = 1;   // tensor ranks of one expert
    std::uint32_t virtual_stages = 1;  // model parts per stage, for schedules that leave the choice
    std::uint32_t shard_ranks = 1;     // data ranks of a data_inner group
    std::vector<std::string> order{"tensor", "context", "data", "pipeline"};  // innermost first
    StageSplit split = StageSplit::framework;

    std::uint32_t ranks() const { return tensor * context * pipeline * data; }
    std::uint32_t ranks_of_stage() const { return tensor * context * data; }
    std::uint32_t expert_data() const { return ranks_of_stage() / (expert * expert_tensor); }
    RankGrid grid() const;
};

// For people: "tensor 2 x context 2 x pipeline 4 x data 8 (expert 4)"; context and expert only where they are used.
std::string axes(const Layout& layout);

}  // namespace weft
