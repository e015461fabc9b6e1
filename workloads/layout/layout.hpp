// How many ranks share each kind of parallelism, and in which order they sit.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

// Which ranks take part in a call: those that differ along a set of axes, all of them or by runs. As the masks of
// Megatron-core have it (core/parallel_state.py, generate_masked_orthogonal_rank_groups), for any layout.

inline constexpr std::size_t most_further_axes = 3;

// Axes by their names: those of the rank grid (tensor, context, data, pipeline, and what schemes bring), or those of
// the other numbering of a stage's ranks: expert_tensor innermost, then expert, then expert_data (Megatron-core's
// "tp-ep-dp" over the same ranks).
class Axes {
  public:
    constexpr Axes() = default;
    constexpr Axes(std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names) add(name);
    }
    // LogicError where no scheme has such an axis.
    constexpr void add(std::string_view name) { bits_ = static_cast<std::uint16_t>(bits_ | bit(name)); }
    constexpr bool has(std::string_view name) const { return (bits_ & bit(name)) != 0; }
    constexpr bool meets(Axes other) const { return (bits_ & other.bits_) != 0; }
    constexpr std::uint32_t bits() const { return bits_; }
    constexpr auto operator<=>(const Axes&) const = default;

  private:
    static constexpr std::array<std::string_view, 7> known{"tensor",        "context", "data",       "pipeline",
                                                           "expert_tensor", "expert",  "expert_data"};
    static constexpr std::uint32_t bit(std::string_view name) {
        const auto* const found = std::ranges::find(known, name);
        if (found == known.end()) return 1U << place_of_further(name);
        return 1U << (most_further_axes + static_cast<std::size_t>(found - known.begin()));
    }
    static std::size_t place_of_further(std::string_view name);

    std::uint16_t bits_ = 0;
};

// Those along which ranks hold the same dense parameters: data, context, and of other schemes what holds copies.
Axes copy_axes();
// Those along which they hold different ones: tensor, pipeline, and of other schemes what holds parts.
Axes part_axes();
// All of the grid but pipeline.
Axes stage_axes();

class RankGroups {
  public:
    constexpr RankGroups() = default;  // of one rank each
    constexpr RankGroups(Axes axes) : axes_(axes) {}
    constexpr RankGroups(std::initializer_list<std::string_view> axes) : axes_(axes) {}
    // Consecutive ranks, as many as the layout has in a run of the axis (run_along()); axes without runs are whole.
    static constexpr RankGroups inner(Axes axes) { return {axes, Take::inner}; }
    // The ranks with the same place in their runs.
    static constexpr RankGroups outer(Axes axes) { return {axes, Take::outer}; }
    // Stages by twos: the first and the one with a second embedding matrix; i and p - 1 - i, which hold the same layers
    // under a bidirectional schedule; a sender and a receiver.
    static constexpr RankGroups embedding() { return {{"pipeline"}, Take::ends}; }
    static constexpr RankGroups mirror() { return {{"pipeline"}, Take::mirror}; }
    static constexpr RankGroups boundary() { return {{"pipeline"}, Take::boundary}; }

    constexpr const Axes& axes() const { return axes_; }
    constexpr std::uint32_t hash() const { return axes_.bits() << 3U | static_cast<std::uint32_t>(take_); }
    constexpr bool keeps_to_stage() const {
        constexpr Axes pipeline{"pipeline"};
        return !axes_.meets(pipeline);
    }
    constexpr auto operator<=>(const RankGroups&) const = default;

  private:
    friend class PlacedGroups;
    enum class Take : std::uint8_t { all, inner, outer, ends, mirror, boundary };
    constexpr RankGroups(Axes axes, Take take) : axes_(axes), take_(take) {}

    Axes axes_;
    Take take_ = Take::all;
};

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
    cost,        // so that the part whose kernels take the longest takes as little as it can
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

// Where the groups of a set of axes sit under a layout: arithmetic on the rank grid, nothing stored per rank.

class PlacedGroups {
  public:
    // The members are origin + sum of i_k x stride_k, i_k < size_k.
    struct Digit {
        std::uint32_t stride, size;
        std::uint32_t coordinate(RankId rank) const { return static_cast<std::uint32_t>(rank) / stride % size; }
    };

    // LogicError for a boundary, and where expert_layout_obstacle() has something to say.
    PlacedGroups(RankGroups groups, const Layout& layout);

    // The group of `rank`, the axis that is innermost in the layout varying fastest; one that is split is outermost.
    std::vector<RankId> members(RankId rank) const;

  private:
    Digit taken(std::uint32_t size, std::uint32_t run) const;
    void add_axes_of_grid(const Layout& layout);
    void add_axes_of_experts(const Layout& layout);
    bool is_by_twos() const;
    std::vector<RankId> two_stages(RankId rank) const;

    RankGroups groups_;
    std::vector<Digit> digits_;
    std::uint32_t pipeline_, copy_, pipeline_stride_;  // copy_: the stage with a second embedding matrix
};

// Whether neighbouring ranks of a stage are those of a tensor group, or there are none of these.
bool tensor_is_innermost(const Layout& layout);

// Members of the group in which `rank` issues a call; 2 across a boundary.
std::uint32_t group_size(RankGroups groups, const Layout& layout, RankId rank);

// Why expert x expert_tensor groups cannot be laid on the ranks of a stage; empty if they can.
std::string expert_layout_obstacle(const Layout& layout);

}  // namespace weft
