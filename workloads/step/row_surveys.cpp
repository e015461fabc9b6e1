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
      shape_(shape_of(topology, row_.groups().members)),
      shown_(pattern(row_.groups().members)) {}

// Channels of groups that are moved by whole nodes are moved likewise.
bool RowSurveys::lay(Order order) {
    const auto [laid, is_new] = laid_.try_emplace(order);
    if (is_new) {
        laid->second.communicator = lay(row().members, shown_, order);
        const Communicator first = planner_.lay({shown_.begin(), shown_.end()}, order);
        laid->second.others_are_moved = std::ranges::all_of(row().within, [&](std::uint32_t by) {
            return are_moved(first, planner_.lay(all_moved(shown_, by), order), static_cast<std::int32_t>(by));
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
    if (members.size() % size != 0) return members;
    std::uint32_t known = 0;  // a distance of whole nodes
    for (std::size_t front = size; front < members.size(); front += size) {
        for (std::size_t i = front; i < front + size; ++i) {
            const auto before = static_cast<std::uint32_t>(members[i - size]),
                       by = static_cast<std::uint32_t>(members[i]) - before;
            const bool is_after = members[i] > members[i - size] && (by == known || by % topology_.ranks_per_node == 0);
            const bool is_together = i == front || topology_.node_of(members[i]) == topology_.node_of(members[front]);
            if (!is_after || !is_together) return members;
            known = by;
        }
    }
    return members.first(std::min(2 * size, members.size()));
}

Communicator RowSurveys::lay(std::span<const RankId> members, std::span<const RankId> pattern, Order order) {
    Communicator laid = planner_.lay({pattern.begin(), pattern.end()}, order);
    for (std::vector<RankId>& channel : laid.channels) {
        channel.reserve(members.size());
        std::vector<std::uint32_t> local;
        for (const RankId rank : channel) local.push_back(topology_.local_of(rank));
        std::size_t like = 0;  // a member of the pattern
        for (const RankId member : members.subspan(pattern.size())) {
            channel.push_back(RankId(static_cast<std::uint32_t>(member) - topology_.local_of(member) + local[like]));
            if (++like == local.size()) like = 0;
        }
    }
    return laid;
}

}  // namespace weft
