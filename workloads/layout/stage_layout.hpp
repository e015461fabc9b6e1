// A layout of stages by hand: which model part holds how many layers, and which the modules of multi-token prediction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

// The embedding is always on the first part and the loss on the last: parts may hold no layers.
struct StageLayout {
    std::vector<std::uint32_t> layers;  // of each part, in a micro-batch's order; empty: by first and last
    std::uint32_t first = 0, last = 0;  // layers of the first and last stage, the others share evenly; 0: as they
    std::uint32_t mtp_layers = 0;       // that the text places
    std::optional<std::uint32_t> predictions;  // the part that holds them; none: the last
    std::string text;                          // as said

    bool operator==(const StageLayout&) const = default;
};

// Megatron-core's --pipeline-model-parallel-layout (core/transformer/pipeline_parallel_layer_layout.py, 0.13 to 0.19):
// parts between '|', of E (embedding), t (transformer layer), m (module of multi-token prediction) and L (loss). First
// commas are dropped, then (...)*n is n times what stands in the parentheses, then x*n n times the character x. What is
// no layout is said in `why`, which is otherwise empty.
StageLayout parse_stage_layout(std::string_view text, std::string& why);
// The same back: "Et*2|t*3|L". `mtp_layers` of the model.
std::string stage_layout_text(const std::vector<std::uint32_t>& layers, std::uint32_t prediction_part,
                              std::uint32_t mtp_layers);

}  // namespace weft
