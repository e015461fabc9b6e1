#include "workloads/layout/groups_of_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/base/check.hpp"
#include "workloads/parallelism/scheme.hpp"

namespace weft {

namespace {

struct AxisShare {
    std::uint32_t stride, size;
};

// `count` ranks of a stage, `step` apart in the order in which the stage numbers its ranks, cut along the axes; nothing
// if an axis would be cut unevenly.
std::optional<std::vector<AxisShare>> along_stage(const Layout& layout, std::uint64_t step, std::uint64_t count) {
    const RankGrid grid = layout.grid();
    std::vector<AxisShare> shares;
    std::uint64_t inner = 1;  // ranks of the stage in the axes passed
    for (const Axis& axis : grid.axes()) {
        if (axis.name == "pipeline") continue;
        const std::uint64_t outer = inner * axis.size;
        const std::uint64_t low = std::max(step, inner), high = std::min(step * count, outer);
        if (low < high) {
            if (low % inner != 0 || high % low != 0 || outer % high != 0) return std::nullopt;
            shares.push_back({static_cast<std::uint32_t>(grid.stride(axis.name) * (low / inner)),
                              static_cast<std::uint32_t>(high / low)});
        }
        inner = outer;
    }
    return shares;
}

}  // namespace

void RankGroups::add_axes(const Layout& layout, const std::function<bool(const Scheme&)>& chosen) {
    const RankGrid grid = layout.grid();
    for (const Axis& axis : grid.axes()) {
        if (!chosen(*find_scheme(axis.name))) continue;
        digits_.push_back({grid.stride(axis.name), axis.size,
                           axis.name == "pipeline" ? Digit::Along::pipeline : Digit::Along::stage});
    }
}

void RankGroups::add_ranks_of_stage(const Layout& layout, std::uint64_t step, std::uint64_t count) {
    const auto shares = along_stage(layout, step, count);
    WEFT_CHECK(shares.has_value(), "groups cut an axis of the layout unevenly");
    for (const AxisShare& share : *shares) {
        digits_.push_back({share.stride, share.size, Digit::Along::stage});
    }
}

RankGroups::RankGroups(GroupKind kind, const Layout& layout)
    : kind_(kind),
      pipeline_(layout.pipeline),
      copy_(layout.embedding_copy()),
      pipeline_stride_(layout.grid().stride("pipeline")) {
    const std::uint64_t experts = std::uint64_t{layout.expert_tensor} * layout.expert;
    const auto along = [&](std::string_view axis) {
        add_axes(layout, [axis](const Scheme& scheme) { return scheme.axis == axis; });
    };
    const auto holding = [&](Scheme::Holds what) {
        add_axes(layout, [what](const Scheme& scheme) { return scheme.holds == what; });
    };
    switch (kind) {
        case GroupKind::tensor:
            along("tensor");
            break;
        case GroupKind::context:
            along("context");
            break;
        case GroupKind::data:
            holding(Scheme::Holds::copies);
            break;
        case GroupKind::data_inner:
            add_axes(layout, [](const Scheme& scheme) {
                return scheme.holds == Scheme::Holds::copies && scheme.axis != "data";
            });
            digits_.push_back({layout.grid().stride("data"), layout.shard_ranks, Digit::Along::stage});
            break;
        case GroupKind::data_outer:
            digits_.push_back({layout.grid().stride("data") * layout.shard_ranks, layout.data / layout.shard_ranks,
                               Digit::Along::stage});
            break;
        case GroupKind::expert_tensor:
            add_ranks_of_stage(layout, 1, layout.expert_tensor);
            break;
        case GroupKind::expert:
            add_ranks_of_stage(layout, layout.expert_tensor, layout.expert);
            break;
        case GroupKind::expert_inner:
            add_ranks_of_stage(layout, layout.expert_tensor, layout.expert_inner);
            break;
        case GroupKind::expert_outer:
            add_ranks_of_stage(layout, std::uint64_t{layout.expert_tensor} * layout.expert_inner,
                               layout.expert / layout.expert_inner);
            break;
        case GroupKind::expert_and_tensor:
            add_ranks_of_stage(layout, 1, experts);
            break;
        case GroupKind::expert_data:
            add_ranks_of_stage(layout, experts, layout.expert_data());
            break;
        case GroupKind::expert_data_inner:
            add_ranks_of_stage(layout, experts, layout.expert_shard_ranks());
            break;
        case GroupKind::expert_data_outer:
            add_ranks_of_stage(layout, experts * layout.expert_shard_ranks(),
                               layout.expert_data() / layout.expert_shard_ranks());
            break;
        case GroupKind::tensor_context:
            add_axes(layout, [](const Scheme& scheme) { return scheme.axis == "tensor" || scheme.axis == "context"; });
            break;
        case GroupKind::stage:
            add_ranks_of_stage(layout, 1, layout.ranks_of_stage());
            break;
        case GroupKind::model:
            holding(Scheme::Holds::parts);
            break;
        case GroupKind::pipeline:
            along("pipeline");
            break;
        case GroupKind::embedding:
        case GroupKind::mirror:
            size_ = stages_ = layout.pipeline > 1 ? 2 : 1;
            return;
        case GroupKind::boundary:
            WEFT_CHECK(false, "a boundary has a sender and a receiver, no group");
            break;
        default:
            along(further_axes()[static_cast<std::size_t>(kind) - static_cast<std::size_t>(GroupKind::further)]);
    }
    for (const Digit& digit : digits_) {
        size_ *= digit.size;
        if (digit.along == Digit::Along::pipeline) stages_ *= digit.size;
    }
}

// Embedding: the first stage and the one with a copy. Mirror: the rank's own stage and the one as far from the other
// end.
std::vector<RankId> RankGroups::two_stages(RankId rank) const {
    const std::uint32_t stage = static_cast<std::uint32_t>(rank) / pipeline_stride_ % pipeline_;
    const std::uint32_t base = static_cast<std::uint32_t>(rank) - stage * pipeline_stride_;
    const std::uint32_t low = kind_ == GroupKind::embedding ? 0 : std::min(stage, pipeline_ - 1 - stage);
    const std::uint32_t high = kind_ == GroupKind::embedding ? copy_ : pipeline_ - 1 - low;
    if (low == high) return {rank};
    return {RankId{base + low * pipeline_stride_}, RankId{base + high * pipeline_stride_}};
}

std::vector<RankId> RankGroups::members(RankId rank) const {
    if (kind_ == GroupKind::embedding || kind_ == GroupKind::mirror) return two_stages(rank);
    std::uint32_t origin = static_cast<std::uint32_t>(rank);
    for (const Digit& digit : digits_) origin -= digit.coordinate(rank) * digit.stride;
    std::size_t size = 1;
    for (const Digit& digit : digits_) size *= digit.size;
    std::vector<RankId> members(size, RankId{origin});
    std::size_t inner = 1;
    for (const Digit& digit : digits_) {
        for (std::size_t i = inner; i < inner * digit.size; ++i) {
            members[i] = RankId{static_cast<std::uint32_t>(members[i - inner]) + digit.stride};
        }
        inner *= digit.size;
    }
    return members;
}

bool tensor_is_innermost(const Layout& layout) {
    const RankGrid grid = layout.grid();
    for (const Axis& axis : grid.axes()) {
        if (axis.name == "tensor") return true;
        if (axis.name != "pipeline" && axis.size > 1) break;
    }
    return layout.tensor == 1;
}

std::uint32_t group_size(GroupKind kind, const Layout& layout, RankId rank) {
    if (kind == GroupKind::boundary) return 2;
    return static_cast<std::uint32_t>(RankGroups(kind, layout).members(rank).size());
}

std::string expert_layout_obstacle(const Layout& layout) {
    const std::uint64_t ranks = layout.ranks_of_stage(), both = std::uint64_t{layout.expert} * layout.expert_tensor;
    std::string product;
    for (const std::string& axis : usual_order()) {
        if (axis != "pipeline")
            product += fmt::format("{}{} {}", product.empty() ? "" : " x ", axis, layout.size(axis));
    }
    product += fmt::format(" = {} ranks of a stage", ranks);
    if (ranks % both != 0) {
        return fmt::format("expert {} x expert_tensor {} = {} does not divide the {}", layout.expert,
                           layout.expert_tensor, both, product);
    }
    const bool tiles = along_stage(layout, 1, layout.expert_tensor) &&
                       along_stage(layout, layout.expert_tensor, layout.expert) &&
                       along_stage(layout, both, ranks / both);
    if (tiles) return {};
    return fmt::format("expert {} x expert_tensor {} cuts an axis of the {} unevenly", layout.expert,
                       layout.expert_tensor, product);
}

}  // namespace weft
