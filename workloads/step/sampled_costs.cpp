#include "workloads/step/sampled_costs.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/collective/moved_communicator.hpp"
#include "sim/collective/row_nodes.hpp"

namespace weft {
namespace {

// The messages of a group are looked at one by one, which for all to all are many.
constexpr std::size_t most_all_to_all = 128;

std::vector<RankId> all_moved(std::span<const RankId> ranks, std::uint32_t by) {
    std::vector<RankId> result;
    for (const RankId rank : ranks) result.push_back(moved(rank, by));
    return result;
}

}  // namespace

// Where it routes adaptively, what settles on detours depends on all links; faults tell nodes apart.
bool SampledCosts::serves(const Topology& topology) {
    return topology.node_links > 0 && topology.routing != Routing::adaptive && topology.router->tree() != nullptr;
}

SampledCosts::SampledCosts(const Topology& topology, Library library, Sampling sampling)
    : topology_(topology), library_(std::move(library)), sampling_(sampling), planner_(topology), sample_(topology) {}

// Where many groups of one row pass several switches, every message on these switches is looked at one by one, and few
// of the switches are alike: groups that are others moved are then told faster. (Pipelines of stages that lie far
// apart, 131,072 H100: 10 s against 0.5 s. Where each lies on one switch: 0.05 s against 0.5 s.)
bool SampledCosts::serves(const GroupRow& row) const {
    constexpr std::size_t few = 8;
    if (sampling_ == Sampling::wherever_possible || row.across.size() <= few) return true;
    const RowNodes nodes(topology_, row);
    const auto apart =
        std::ranges::count_if(row.across, [&](std::uint32_t across) { return !nodes.on_one_switch(across); });
    return static_cast<std::size_t>(apart) <= row.across.size() / few;
}

GroupCosts* SampledCosts::add(GroupRow groups, std::span<const Call> calls) {
    Row& row = rows_.emplace_back(Row{.groups = std::move(groups)});
    row.costs = std::make_unique<GroupCosts>(topology_, library_, shape_of(topology_, row.groups.members),
                                             [this, &row](const Choice& choice) { return work_out(row, choice); });
    if (row.groups.members.size() == 1) return row.costs.get();
    for (const Call& call : calls) {
        for (const Choice& choice : row.costs->in_question(call.op, call.message)) {
            const Algorithm& algorithm = *choice.algorithm;
            const auto [phases, is_new] = row.phases.try_emplace(&algorithm);
            if (!is_new) continue;
            if (!lay(row, algorithm.order)) return nullptr;
            phases->second = algorithm.phases(row.costs->shape());
            for (const Phase& phase : phases->second) {
                if (phase.peer == Peer::all && row.groups.members.size() > most_all_to_all) return nullptr;
                kind_of(row, algorithm.order, phase);
            }
        }
    }
    return row.costs.get();
}

// Counts the messages of a kind that it has not met. The phase is the row's.
SampledCosts::Kind& SampledCosts::kind_of(Row& row, Order order, const Phase& phase) {
    const auto known = std::ranges::find_if(row.kinds, [&](const Kind& kind) {
        return kind.order == order && (kind.phase == &phase || same_messages(*kind.phase, phase));
    });
    if (known != row.kinds.end()) return *known;
    sample_.count(row.groups, row.communicators.at(order), phase);
    return row.kinds.emplace_back(Kind{.order = order, .phase = &phase});
}

std::vector<PhaseCost> SampledCosts::work_out(Row& row, const Choice& choice) {
    const auto phases = row.phases.find(choice.algorithm);
    WEFT_CHECK(phases != row.phases.end(), "a call that groups of a sample were not said to make");
    const Order order = choice.algorithm->order;
    const auto traffic_of = [&](const Phase& phase) -> const RowTraffic& {
        Kind& kind = kind_of(row, order, phase);
        if (kind.traffic == nullptr) {
            kind.traffic =
                std::make_unique<RowTraffic>(topology_, sample_, row.groups, row.communicators.at(order), phase);
        }
        return *kind.traffic;
    };
    return cost(phases->second, traffic_of, library_, *choice.protocol);
}

// Channels of groups that are moved by whole nodes are moved likewise.
bool SampledCosts::lay(Row& row, Order order) {
    const auto [communicator, is_new] = row.communicators.try_emplace(order);
    if (!is_new) return true;
    const std::span<const RankId> shown = pattern(row.groups.members);
    communicator->second = lay(row.groups.members, shown, order);
    const Communicator first = planner_.lay({shown.begin(), shown.end()}, order);
    return std::ranges::all_of(row.groups.within, [&](std::uint32_t by) {
        return are_moved(first, planner_.lay(all_moved(shown, by), order), static_cast<std::int32_t>(by));
    });
}

// The members on the first two nodes show how the others are passed: nodes are alike, and every second one is passed
// alike. All members, where the nodes hold different ones.
std::span<const RankId> SampledCosts::pattern(std::span<const RankId> members) const {
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

Communicator SampledCosts::lay(std::span<const RankId> members, std::span<const RankId> pattern, Order order) {
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
