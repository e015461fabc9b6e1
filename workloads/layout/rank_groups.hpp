// Which ranks take part in a call: those that differ along a set of axes, all of them or by runs. As the masks of
// Megatron-core have it (core/parallel_state.py, generate_masked_orthogonal_rank_groups), for any layout.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace weft {

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

}  // namespace weft
