#include "workloads/layout/layout.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/base/check.hpp"

namespace weft {

namespace {

// Consecutive ranks of an axis, `size` long, that RankGroups::inner takes together: Layout::shard_ranks and
// expert_inner say it of data and expert, and so of expert_data.
std::uint32_t run_along(const Layout& layout, std::string_view axis, std::uint32_t size) {
    return axis == "data"          ? layout.shard_ranks
           : axis == "expert"      ? layout.expert_inner
           : axis == "expert_data" ? layout.expert_shard_ranks()
                                   : size;
}

using Digit = PlacedGroups::Digit;

// `count` ranks of a stage, `step` apart in the order in which the stage numbers its ranks, cut along the axes; nothing
// if an axis would be cut unevenly.
std::optional<std::vector<Digit>> along_stage(const Layout& layout, std::uint64_t step, std::uint64_t count) {
    const RankGrid grid = layout.grid();
    std::vector<Digit> shares;
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

// Of `size` ranks along an axis those that a group has: how far apart, and how many.
Digit PlacedGroups::taken(std::uint32_t size, std::uint32_t run) const {
    switch (groups_.take_) {
        case RankGroups::Take::inner:
            return {1, run};
        case RankGroups::Take::outer:
            return {run, size / run};
        default:
            return {1, size};
    }
}

// What is split comes last.
void PlacedGroups::add_axes_of_grid(const Layout& layout) {
    const RankGrid grid = layout.grid();
    for (const bool in_runs : {false, true}) {
        for (const Axis& axis : grid.axes()) {
            const std::uint32_t run = run_along(layout, axis.name, axis.size);
            const bool is_split = groups_.take_ != RankGroups::Take::all && run < axis.size;
            if (!groups_.axes().has(axis.name) || is_split != in_runs) continue;
            const Digit share = taken(axis.size, run);
            digits_.push_back({grid.stride(axis.name) * share.stride, share.size});
        }
    }
}

void PlacedGroups::add_axes_of_experts(const Layout& layout) {
    std::uint64_t inside = 1;  // ranks of the stage in the axes passed
    for (const auto& [axis, size] : {std::pair{"expert_tensor", layout.expert_tensor},
                                     {"expert", layout.expert},
                                     {"expert_data", layout.expert_data()}}) {
        if (groups_.axes().has(axis)) {
            const Digit share = taken(size, run_along(layout, axis, size));
            const auto shares = along_stage(layout, inside * share.stride, share.size);
            WEFT_CHECK(shares.has_value(), "groups cut an axis of the layout unevenly");
            digits_.insert(digits_.end(), shares->begin(), shares->end());
        }
        inside *= size;
    }
}

PlacedGroups::PlacedGroups(RankGroups groups, const Layout& layout)
    : groups_(groups),
      pipeline_(layout.pipeline),
      copy_(layout.embedding_copy()),
      pipeline_stride_(layout.grid().stride("pipeline")) {
    WEFT_CHECK(groups != RankGroups::boundary(), "a boundary has a sender and a receiver, no group");
    if (is_by_twos()) return;
    add_axes_of_grid(layout);
    add_axes_of_experts(layout);
}

bool PlacedGroups::is_by_twos() const { return groups_ == RankGroups::embedding() || groups_ == RankGroups::mirror(); }

std::vector<RankId> PlacedGroups::two_stages(RankId rank) const {
    const std::uint32_t stage = static_cast<std::uint32_t>(rank) / pipeline_stride_ % pipeline_;
    const std::uint32_t base = static_cast<std::uint32_t>(rank) - stage * pipeline_stride_;
    const bool ends = groups_ == RankGroups::embedding();
    const std::uint32_t low = ends ? 0 : std::min(stage, pipeline_ - 1 - stage);
    const std::uint32_t high = ends ? copy_ : pipeline_ - 1 - low;
    if (low == high) return {rank};
    return {RankId{base + low * pipeline_stride_}, RankId{base + high * pipeline_stride_}};
}

std::vector<RankId> PlacedGroups::members(RankId rank) const {
    if (is_by_twos()) return two_stages(rank);
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

std::uint32_t group_size(RankGroups groups, const Layout& layout, RankId rank) {
    if (groups == RankGroups::boundary()) return 2;
    return static_cast<std::uint32_t>(PlacedGroups(groups, layout).members(rank).size());
}

std::string expert_layout_obstacle(const Layout& layout) {
    const std::uint64_t ranks = layout.ranks_of_stage(), both = std::uint64_t{layout.expert} * layout.expert_tensor;
    const auto product = [&] {
        std::string text;
        for (const std::string& axis : usual_order()) {
            if (axis != "pipeline") text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis, layout.size(axis));
        }
        return text + fmt::format(" = {} ranks of a stage", ranks);
    };
    if (both == 1) return {};
    if (ranks % both != 0) {
        return fmt::format("expert {} x expert_tensor {} = {} does not divide the {}", layout.expert,
                           layout.expert_tensor, both, product());
    }
    const bool tiles = along_stage(layout, 1, layout.expert_tensor) &&
                       along_stage(layout, layout.expert_tensor, layout.expert) &&
                       along_stage(layout, both, ranks / both);
    if (tiles) return {};
    return fmt::format("expert {} x expert_tensor {} cuts an axis of the {} unevenly", layout.expert,
                       layout.expert_tensor, product());
}

}  // namespace weft
