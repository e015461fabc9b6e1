#include "workloads/step/groups.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {

std::vector<Cell> make_cells(const Plan& plan, Folding folding) {
    const RankGrid grid = plan.job.layout.grid();
    std::vector<Cell> cells;
    for (std::uint32_t stage = 0; stage < plan.stages.size(); ++stage) {
        const std::vector<RankId> ranks = grid.slice("pipeline", stage);
        if (folding == Folding::stages) {
            cells.push_back({stage, ranks.front(), static_cast<std::uint32_t>(ranks.size())});
        } else {
            for (const RankId rank : ranks) cells.push_back({stage, rank, 1});
        }
    }
    return cells;
}

namespace {

Library library_of(const Plan& plan) {
    Library library = plan.machine.library();
    if (plan.job.deepspeed.log_calls == Setting::on) library.launch += library.blocking;
    return library;
}

}  // namespace

Groups::Groups(const Plan& plan, const Topology& topology, Folding folding, ProgramBuilder& builder)
    : plan_(plan),
      topology_(topology),
      library_(library_of(plan)),
      folding_(folding),
      builder_(builder),
      grid_(plan.job.layout.grid()),
      planner_(topology) {}

const RankGroups& Groups::groups_of(GroupKind kind) {
    return groups_.try_emplace(kind, kind, plan_.job.layout).first->second;
}

LaneId Groups::lane(const Call& call) const {
    if (call.group != GroupKind::boundary) return lanes::of(call.group);
    const bool send = call.direction == Direction::send;
    if (plan_.job.schedule->handover == Schedule::Handover::blocking) {
        return send ? lanes::pipeline_send : lanes::pipeline_receive;
    }
    return send ? lanes::send_of_port(call.port) : lanes::receive_of_port(call.port);
}

// The rank that sits on another stage where `rank` sits on its own.
RankId Groups::on_stage(RankId rank, std::uint32_t stage) const {
    const std::uint32_t stride = grid_.stride("pipeline");
    return RankId{static_cast<std::uint32_t>(rank) - grid_.coordinate(rank, "pipeline") * stride + stage * stride};
}

std::uint32_t Groups::find(const Cell& cell, const Call& call) {
    if (call.group == GroupKind::boundary) {
        const bool sends = call.direction == Direction::send;
        const RankId sender = sends ? cell.representative : on_stage(cell.representative, call.peer);
        const std::uint32_t to = sends ? call.peer : cell.stage;
        const auto [it, inserted] =
            index_.try_emplace(Key{call.group, sender, to, call.port}, static_cast<std::uint32_t>(sets_.size()));
        if (inserted) sets_.push_back(make_boundary(sender, to, call));
        return it->second;
    }
    const RankId known_by = groups_of(call.group).members(cell.representative).front();
    const auto [it, inserted] =
        index_.try_emplace(Key{call.group, known_by, 0, 0}, static_cast<std::uint32_t>(sets_.size()));
    if (inserted) sets_.push_back(make_set(cell, call.group));
    return it->second;
}

GroupCosts Groups::lay(std::vector<std::vector<RankId>> groups) {
    const GroupShape shape = shape_of(topology_, groups.front());
    return {topology_, library_, shape, [this, groups = std::move(groups)](Order order) {
                std::vector<Communicator> communicators;
                for (const std::vector<RankId>& members : groups) communicators.push_back(planner_.lay(members, order));
                return communicators;
            }};
}

Groups::Set Groups::make_boundary(RankId sender, std::uint32_t to, const Call& call) {
    Call sending = call;
    sending.direction = Direction::send;
    const std::vector<RankId> senders =
        folding_ == Folding::none ? std::vector{sender} : grid_.slice("pipeline", grid_.coordinate(sender, "pipeline"));
    std::vector<std::vector<RankId>> pairs;
    for (const RankId from : senders) pairs.push_back({from, on_stage(from, to)});
    const auto groups = static_cast<std::uint32_t>(pairs.size());
    return {.lane = lane(sending), .size = 2, .parties = 2, .groups = groups, .costs = lay(std::move(pairs))};
}

Groups::Set Groups::make_set(const Cell& cell, GroupKind kind) {
    const RankGroups& groups = groups_of(kind);
    const std::vector<RankId> own = groups.members(cell.representative);
    const auto size = static_cast<std::uint32_t>(own.size());
    std::vector<std::vector<RankId>> together;
    std::uint32_t parties = size;
    if (folding_ == Folding::none) {
        together.push_back(own);
    } else {
        parties = size == 1 ? 1 : groups.stages();
        for (const RankId rank : grid_.slice("pipeline", cell.stage)) {
            if (groups.is_first_of_stage(rank)) together.push_back(groups.members(rank));
        }
    }
    const auto count = static_cast<std::uint32_t>(together.size());
    return {
        .lane = lanes::of(kind), .size = size, .parties = parties, .groups = count, .costs = lay(std::move(together))};
}

// By how much longer a call takes than on idle devices.
Seconds Groups::delay_beside(Set& set, const Call& call, const Choice& choice) const {
    if (call.beside == Beside::nothing || set.costs.shape().nodes == 1) return {};
    const Seconds least = call.message / library_.rate_beside_computation,
                  idle = set.costs.idle_time(choice, call.message);
    return std::max(Seconds{}, least - idle);
}

CommunicationId Groups::communication(std::uint32_t index, const Call& call) {
    Set& set = sets_[index];
    const auto known = set.communications.find({call.op, call.message.value, call.first_use.value, call.beside});
    if (known != set.communications.end()) return known->second;
    const std::optional<Choice> choice = set.costs.choose(call.op, call.message);
    WEFT_CHECK(choice.has_value(),
               fmt::format("the library {} has no {} for {} members", library_.name, name(call.op), set.size));
    const Seconds before = call.first_use + delay_beside(set, call, *choice);
    std::vector<Leg> legs;
    for (const PhaseCost& phase : set.costs.phases(*choice)) {
        const Seconds set_up = legs.empty() ? before : Seconds{};
        legs.push_back(
            {builder_.pattern(phase.pattern), phase.latency(call.message) + set_up, phase.bytes(call.message)});
    }
    const Communication what{
        .op = call.op, .dimension = set.lane, .group_size = set.size, .groups = set.groups, .message = call.message};
    const CommunicationId id = builder_.communication(what, legs);
    set.communications.emplace(std::tuple{call.op, call.message.value, call.first_use.value, call.beside}, id);
    return id;
}

ExchangeId Groups::occurrence(std::uint32_t index, std::uint32_t n, CommunicationId communication) {
    Set& set = sets_[index];
    if (set.parties == 1) return builder_.exchange(communication, 1);
    WEFT_CHECK(n <= set.exchanges.size(), "exchanges of a group are numbered without gaps");
    if (n == set.exchanges.size())
        set.exchanges.emplace_back(builder_.exchange(communication, set.parties), communication);
    WEFT_CHECK(set.exchanges[n].second == communication, "the members of a group issue different calls");
    return set.exchanges[n].first;
}

}  // namespace weft
