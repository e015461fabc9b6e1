// Which ranks form a group of each kind: arithmetic on the rank grid, nothing stored per rank.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/layout/layout.hpp"

namespace weft {

struct Scheme;

// The groups of one kind. Expert groups number the ranks of a stage in grid order: expert_tensor innermost, then
// expert, then expert_data (Megatron-core's "tp-ep-dp" over the same ranks).
class RankGroups {
  public:
    // LogicError for boundary, and where expert_layout_obstacle() has something to say.
    RankGroups(GroupKind kind, const Layout& layout);

    std::uint32_t size() const { return size_; }
    std::uint32_t stages() const { return stages_; }  // that a group spans
    // The group of `rank`, the axis that is innermost in the layout varying fastest.
    std::vector<RankId> members(RankId rank) const;

  private:
    // The members are origin + sum of i_k x stride_k, i_k < size_k.
    struct Digit {
        std::uint32_t stride, size;
        enum class Along : std::uint8_t { stage, pipeline } along;
        std::uint32_t coordinate(RankId rank) const { return static_cast<std::uint32_t>(rank) / stride % size; }
    };
    void add_axes(const Layout& layout, const std::function<bool(const Scheme&)>& chosen);
    void add_ranks_of_stage(const Layout& layout, std::uint64_t step, std::uint64_t count);
    std::vector<RankId> two_stages(RankId rank) const;

    GroupKind kind_;
    std::vector<Digit> digits_;
    std::uint32_t pipeline_ = 1, copy_ = 0, pipeline_stride_ = 1;  // copy_: the stage with a second embedding matrix
    std::uint32_t size_ = 1, stages_ = 1;
};

// Whether neighbouring ranks of a stage are those of a tensor group, or there are none of these.
bool tensor_is_innermost(const Layout& layout);

// Members of the group in which `rank` issues a call of this kind; 2 across a boundary.
std::uint32_t group_size(GroupKind kind, const Layout& layout, RankId rank);

// Why expert x expert_tensor groups cannot be laid on the ranks of a stage; empty if they can.
std::string expert_layout_obstacle(const Layout& layout);

}  // namespace weft
