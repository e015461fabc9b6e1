// Where ranks sit: a rank is a point of a grid whose axes are the kinds of parallelism, the innermost axis first.
// A group of an axis is an arithmetic progression, so nothing is stored per rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

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

}  // namespace weft
