#include "workloads/step/groups.hpp"

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

Groups::Groups(const Plan& plan, const Topology& topology, Folding folding, ProgramBuilder& builder)
    : plan_(plan),
      topology_(topology),
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

Groups::Set Groups::make_boundary(RankId sender, std::uint32_t to, const Call& call) {
    Set set;
    Call sending = call;
    sending.direction = Direction::send;
    set.lane = lane(sending);
    set.size = set.parties = 2;
    const std::vector<RankId> senders =
        folding_ == Folding::none ? std::vector{sender} : grid_.slice("pipeline", grid_.coordinate(sender, "pipeline"));
    for (const RankId from : senders) set.communicators.push_back(planner_.single({from, on_stage(from, to)}));
    return set;
}

Groups::Set Groups::make_set(const Cell& cell, GroupKind kind) {
    const RankGroups& groups = groups_of(kind);
    const auto lay = [&](const std::vector<RankId>& group) {
        return groups.stages() > 1 ? planner_.single(group) : planner_.ring(group);
    };
    Set set;
    set.lane = lanes::of(kind);
    const std::vector<RankId> own = groups.members(cell.representative);
    set.size = static_cast<std::uint32_t>(own.size());
    if (folding_ == Folding::none) {
        set.parties = set.size;
        set.communicators.push_back(lay(own));
        return set;
    }
    set.parties = set.size == 1 ? 1 : groups.stages();
    for (const RankId rank : grid_.slice("pipeline", cell.stage)) {
        if (groups.is_first_of_stage(rank)) set.communicators.push_back(lay(groups.members(rank)));
    }
    return set;
}

CommunicationId Groups::communication(std::uint32_t index, const Call& call) {
    Set& set = sets_[index];
    const auto known = set.communications.find({call.op, call.message.value, call.first_use.value});
    if (known != set.communications.end()) return known->second;
    const LibraryCost& library = plan_.machine.library_cost;
    const Algorithm& algorithm = choose(call.op, set.size, call.message);
    auto [costs, fresh] = set.costs.try_emplace(&algorithm);
    if (fresh) costs->second = cost(algorithm, set.communicators, topology_, library);
    std::vector<Leg> legs;
    for (const PhaseCost& phase : costs->second) {
        const Seconds set_up = legs.empty() ? call.first_use : Seconds{};
        legs.push_back(
            {builder_.pattern(phase.pattern), phase.latency + set_up, call.message * phase.bytes_per_message_byte});
    }
    const Communication what{.op = call.op,
                             .dimension = set.lane,
                             .group_size = set.size,
                             .groups = static_cast<std::uint32_t>(set.communicators.size()),
                             .message = call.message};
    const CommunicationId id = builder_.communication(what, legs);
    set.communications.emplace(std::tuple{call.op, call.message.value, call.first_use.value}, id);
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
