// How many ranks share each kind of parallelism, and in which order they sit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/table.hpp"
#include "workloads/layout/rank_groups.hpp"

namespace weft {

// Where ranks sit: a rank is a point of a grid whose axes are the kinds of parallelism, the innermost axis first.
// A group of an axis is an arithmetic progression, so nothing is stored per rank.

struct Axis {
    std::string name;  // "tensor", "data", "pipeline"
    std::uint32_t size = 1;
};

class RankGrid {
  public:
    explicit RankGrid(std::vector<Axis> axes);  // innermost first; sizes >= 1

    std::uint32_t ranks() const { return ranks_; }
    const std::vector<Axis>& axes() const { return axes_; }
    std::uint32_t size(std::string_view axis) const;
    std::uint32_t stride(std::string_view axis) const;
    std::uint32_t coordinate(RankId rank, std::string_view axis) const;  // 0 .. size - 1

    // All ranks with the given coordinate on `axis`, ascending.
    std::vector<RankId> slice(std::string_view axis, std::uint32_t coordinate) const;

  private:
    std::size_t find(std::string_view axis) const;
    std::vector<Axis> axes_;
    std::vector<std::uint32_t> strides_;
    std::uint32_t ranks_ = 1;
};

// How layers are dealt to pipeline stages.
enum class StageSplit : std::uint8_t {
    framework,   // by the framework's own rule
    even,        // the same number everywhere (Megatron-DeepSpeed's partition by `type:transformer`)
    ends,        // one layer fewer on the first and on the last, for embedding and output layer
    uniform,     // DeepSpeed's `uniform`: as many of its items, which embedding, norms and head are, too
    parameters,  // DeepSpeed's `parameters`: items with as many parameters
    by_hand,     // Layout::by_hand
};

// Axes of the rank grid, innermost first, where a job says nothing else.
std::vector<std::string> usual_order();
// Axes that schemes bring beyond those that Layout names.
std::span<const std::string> further_axes();

// A layout of stages by hand: which model part holds how many layers, and which the modules of multi-token prediction.
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

struct Layout {
    std::uint32_t tensor = 1;
    std::uint32_t context = 1;
    std::uint32_t pipeline = 1;
    std::uint32_t data = 1;
    std::array<std::uint32_t, most_further_axes> further{1, 1, 1};  // of each of further_axes()
    std::uint32_t expert = 1;                        // ranks that share the experts of a layer, out of those of a stage
    std::uint32_t expert_tensor = 1;                 // tensor ranks of one expert
    std::uint32_t virtual_stages = 1;                // model parts per stage, for schedules that leave the choice
    std::uint32_t shard_ranks = 1;                   // data ranks of one run of RankGroups::inner
    std::uint32_t expert_inner = 1;                  // expert ranks of one run
    std::vector<std::string> order = usual_order();  // innermost first
    StageSplit split = StageSplit::framework;
    StageLayout by_hand;

    // The stage that holds a second embedding matrix, if any does.
    std::uint32_t embedding_copy() const;

    std::uint32_t& size(std::string_view axis);
    std::uint32_t size(std::string_view axis) const;
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_of_replica() * data); }
    std::uint64_t ranks_of_replica() const;  // with one place on the data axis
    std::uint32_t ranks_of_stage() const { return static_cast<std::uint32_t>(ranks_of_replica() / pipeline * data); }
    std::uint32_t copies() const;  // ranks that hold the same dense parameters
    std::uint32_t expert_data() const { return ranks_of_stage() / (expert * expert_tensor); }
    // Of a run of expert_data, where ranks that share parameters hold whole expert groups; else 1.
    std::uint32_t expert_shard_ranks() const {
        return std::max(shard_ranks * (ranks_of_stage() / data) / (expert * expert_tensor), 1U);
    }
    RankGrid grid() const;
    // Whether the axes of more than one rank follow one another as in `axes`, innermost first.
    bool is_ordered(std::vector<std::string> axes) const;
    bool operator==(const Layout&) const = default;
};

// For people: "tensor 2 x context 2 x pipeline 4 x data 8"; but for tensor, pipeline and data, only what is used.
std::string own_axes(const Layout& layout);
// The same with axes that are cut out of others: "... x data 8 (expert 4)".
std::string axes(const Layout& layout);

}  // namespace weft
