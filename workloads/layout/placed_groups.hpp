// Where the groups of a set of axes sit under a layout: arithmetic on the rank grid, nothing stored per rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/layout/layout.hpp"

namespace weft {

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

// Consecutive ranks of an axis, `size` long, that RankGroups::inner takes together: Layout::shard_ranks and
// expert_inner say it of data and expert, and so of expert_data.
std::uint32_t run_along(const Layout& layout, std::string_view axis, std::uint32_t size);

// Whether neighbouring ranks of a stage are those of a tensor group, or there are none of these.
bool tensor_is_innermost(const Layout& layout);

// Members of the group in which `rank` issues a call; 2 across a boundary.
std::uint32_t group_size(RankGroups groups, const Layout& layout, RankId rank);

// Why expert x expert_tensor groups cannot be laid on the ranks of a stage; empty if they can.
std::string expert_layout_obstacle(const Layout& layout);

}  // namespace weft
