#include "workloads/layout/rank_grid.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {

RankGrid::RankGrid(std::vector<Axis> axes) : axes_(std::move(axes)) {
    for (const Axis& axis : axes_) {
        WEFT_CHECK(axis.size >= 1, "axis " + axis.name + " has no ranks");
        strides_.push_back(ranks_);
        ranks_ *= axis.size;
    }
}

std::size_t RankGrid::find(std::string_view axis) const {
    const auto it = std::ranges::find(axes_, axis, &Axis::name);
    WEFT_CHECK(it != axes_.end(), "no axis " + std::string(axis));
    return static_cast<std::size_t>(it - axes_.begin());
}

std::uint32_t RankGrid::size(std::string_view axis) const { return axes_[find(axis)].size; }
std::uint32_t RankGrid::stride(std::string_view axis) const { return strides_[find(axis)]; }

std::uint32_t RankGrid::coordinate(RankId rank, std::string_view axis) const {
    const std::size_t i = find(axis);
    return static_cast<std::uint32_t>(rank) / strides_[i] % axes_[i].size;
}

std::vector<RankId> RankGrid::slice(std::string_view axis, std::uint32_t coordinate) const {
    const std::uint32_t step = stride(axis);
    const std::uint32_t period = step * size(axis);
    std::vector<RankId> members;
    members.reserve(ranks_ / size(axis));
    for (std::uint32_t base = coordinate * step; base < ranks_; base += period) {
        for (std::uint32_t i = 0; i < step; ++i) members.push_back(RankId{base + i});
    }
    return members;
}

}  // namespace weft
