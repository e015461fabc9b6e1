#include "workloads/step/stage_rows.hpp"

#include <algorithm>
#include <utility>

namespace weft {
namespace {

// All sums of multiples of the steps, ascending if these are.
std::vector<std::uint32_t> sums(const std::vector<RankGroups::Step>& steps) {
    std::vector<std::uint32_t> sums{0};
    for (const RankGroups::Step& step : steps) {
        const std::size_t inner = sums.size();
        sums.reserve(inner * step.size);
        for (std::uint32_t i = 1; i < step.size; ++i) {
            for (std::size_t k = 0; k < inner; ++k) sums.push_back(sums[k] + i * step.stride);
        }
    }
    return sums;
}

// The same of steps by whole nodes.
std::vector<NodeRun> moves(const std::vector<RankGroups::Step>& steps, std::uint32_t on_node) {
    std::vector<NodeRun> runs{{0, 1}};
    for (const RankGroups::Step& step : steps) {
        const std::uint32_t nodes = step.stride / on_node;
        if (runs.size() == 1 && runs.front().count == nodes) {
            runs.front().count *= step.size;
            continue;
        }
        const std::size_t inner = runs.size();
        runs.reserve(inner * step.size);
        for (std::uint32_t i = 1; i < step.size; ++i) {
            for (std::size_t k = 0; k < inner; ++k) runs.push_back({runs[k].first + i * nodes, runs[k].count});
        }
    }
    return runs;
}

}  // namespace

std::optional<GroupRow> StageRows::row(const RankGroups& kind, std::vector<RankId> members) const {
    return row(kind.steps(), std::move(members));
}

std::optional<GroupRow> StageRows::row(std::vector<Step> steps, std::vector<RankId> members) const {
    if (grid_.ranks() % on_node_ != 0) return {};
    std::vector<Step> inside, across;
    const std::vector<Step> others = other_steps(steps);
    for (const Axis& axis : grid_.axes()) steps.push_back({grid_.stride(axis.name), axis.size});
    steps.insert(steps.end(), others.begin(), others.end());
    if (!std::ranges::all_of(steps, [&](const Step& step) { return is_cut_evenly(step); })) return {};
    for (const Step& step : others) {
        const std::uint32_t here = step.stride >= on_node_ ? 1 : std::min(step.size, on_node_ / step.stride);
        if (here > 1) inside.push_back({step.stride, here});
        if (step.size > here) across.push_back({step.stride * here, step.size / here});
    }
    return GroupRow{.members = std::move(members), .moves = moves(across, on_node_), .within = sums(inside)};
}

// A step that begins inside a node ends there or at the end of one.
bool StageRows::is_cut_evenly(const Step& step) const {
    if (step.size == 1) return true;
    if (step.stride >= on_node_) return step.stride % on_node_ == 0;
    const std::uint64_t end = std::uint64_t{step.stride} * step.size;
    return on_node_ % step.stride == 0 && (end <= on_node_ ? on_node_ % end == 0 : end % on_node_ == 0);
}

// What is left of the axes of a stage.
std::vector<StageRows::Step> StageRows::other_steps(const std::vector<Step>& steps) const {
    std::vector<Step> left;
    const auto add = [&](std::uint32_t from, std::uint32_t to) {
        if (to > from) left.push_back({from, to / from});
    };
    for (const Axis& axis : grid_.axes()) {
        if (axis.name == "pipeline") continue;
        const std::uint32_t end = grid_.stride(axis.name) * axis.size;
        std::uint32_t here = grid_.stride(axis.name);
        for (const Step& step : steps) {  // ascending
            if (step.size == 1 || step.stride < here || step.stride >= end) continue;
            add(here, step.stride);
            here = step.stride * step.size;
        }
        add(here, end);
    }
    return left;
}

}  // namespace weft
