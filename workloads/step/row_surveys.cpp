#include "workloads/step/row_surveys.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sim/collective/cost.hpp"
#include "sim/collective/moved_communicator.hpp"

namespace weft {
namespace {

std::vector<RankId> all_moved(std::span<const RankId> ranks, std::uint32_t by) {
    std::vector<RankId> result;
    for (const RankId rank : ranks) result.push_back(moved(rank, by));
    return result;
}

}  // namespace

RowSurveys::RowSurveys(const Topology& topology, const Circles& circles, ChannelPlanner& planner, GroupRow row)
    : topology_(topology),
      planner_(planner),
      row_(topology, circles, std::move(row)),
      shape_(shape_of(topology, row_.groups().members)) {}

// Channels of groups that are moved by whole nodes are moved likewise.
bool RowSurveys::lay(Order order) {
    const auto [laid, is_new] = laid_.try_emplace(order);
    if (is_new) {
        const std::span<const RankId> shown = pattern(row().members);
        laid->second.communicator = lay(row().members, shown, order);
        const Communicator first = planner_.lay({shown.begin(), shown.end()}, order);
        laid->second.others_are_moved = std::ranges::all_of(row().within, [&](std::uint32_t by) {
            return are_moved(first, planner_.lay(all_moved(shown, by), order), static_cast<std::int32_t>(by));
        });
    }
    return laid->second.others_are_moved;
}

const std::vector<Phase>& RowSurveys::phases(const Algorithm& algorithm) {
    const auto [known, is_new] = phases_.try_emplace(&algorithm);
    if (is_new) known->second = algorithm.phases(shape_);
    return known->second;
}

RowTraffic& RowSurveys::traffic(Order order, const Phase& phase) {
    std::deque<RowTraffic>& all = traffic_[order];
    const auto known = std::ranges::find_if(all, [&](const RowTraffic& each) {
        const Phase& of = each.survey().phase();
        return &of == &phase || same_messages(of, phase);
    });
    if (known != all.end()) return *known;
    return all.emplace_back(topology_, row_, laid_.at(order).communicator, phase);
}

// The members on the first two nodes show how the others are passed: nodes are alike, and every second one is passed
// alike. All members, where the nodes hold different ones.
std::span<const RankId> RowSurveys::pattern(std::span<const RankId> members) const {
    const std::uint32_t first = topology_.node_of(members.front());
    const auto leaves = std::ranges::find_if(members, [&](RankId rank) { return topology_.node_of(rank) != first; });
    const auto size = static_cast<std::size_t>(leaves - members.begin());
    for (std::size_t i = size; i < members.size(); ++i) {
        const RankId before = members[i - size], front = members[i - i % size];
        if (topology_.local_of(members[i]) != topology_.local_of(before) ||
            topology_.node_of(members[i]) <= topology_.node_of(before) ||
            topology_.node_of(members[i]) != topology_.node_of(front)) {
            return members;
        }
    }
    return members.size() % size == 0 ? members.first(std::min(2 * size, members.size())) : members;
}

Communicator RowSurveys::lay(std::span<const RankId> members, std::span<const RankId> pattern, Order order) {
    Communicator laid = planner_.lay({pattern.begin(), pattern.end()}, order);
    for (std::vector<RankId>& channel : laid.channels) {
        channel.reserve(members.size());
        for (std::size_t i = pattern.size(); i < members.size(); ++i) {
            const std::uint32_t local = topology_.local_of(channel[i % pattern.size()]);
            channel.push_back(RankId(topology_.node_of(members[i]) * topology_.ranks_per_node + local));
        }
    }
    return laid;
}

}  // namespace weft
