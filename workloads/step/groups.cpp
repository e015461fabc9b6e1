#include "workloads/step/groups.hpp"

#include <algorithm>

#include "sim/base/check.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

// Axes along which the members of a group differ.
std::vector<std::string> axes_of(Use use, const Layout& layout) {
    if (use == Use::tensor) return {"tensor"};
    if (use == Use::data) return {"data"};
    if (use == Use::embedding) return {"pipeline"};
    std::vector<std::string> axes;  // model: tensor and pipeline, in the order of the layout
    std::ranges::copy_if(layout.order, std::back_inserter(axes),
                         [](const std::string& axis) { return axis != "data"; });
    return axes;
}

bool is_boundary(Use use) { return use >= Use::activation_out; }

// The use of the rank that sends where `use` receives; any other use is its own.
Use sending(Use use) {
    return use == Use::activation_in ? Use::activation_out : use == Use::gradient_in ? Use::gradient_out : use;
}

}  // namespace

LaneId lane_of(Use use) {
    switch (use) {
        case Use::tensor:
            return lanes::tensor;
        case Use::data:
            return lanes::data;
        case Use::model:
            return lanes::model;
        case Use::embedding:
            return lanes::embedding;
        case Use::activation_out:
        case Use::gradient_out:
            return lanes::pipeline_send;
        case Use::activation_in:
        case Use::gradient_in:
            return lanes::pipeline_receive;
    }
    throw LogicError("unknown use of a group");
}

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

std::uint32_t Groups::find(const Cell& cell, Use use) {
    // A boundary and direction is known by its sender, another group by its first member.
    const Use kind = sending(use);
    const RankId known_by = is_boundary(use)
                                ? (kind == use ? cell.representative : sender_to(cell.representative, kind))
                                : members(cell.representative, use).front();
    const auto [it, inserted] = index_.try_emplace(Key{kind, known_by}, static_cast<std::uint32_t>(sets_.size()));
    if (inserted) sets_.push_back(is_boundary(use) ? make_boundary(known_by, kind) : make_set(cell, use));
    return it->second;
}

std::vector<RankId> Groups::members(RankId rank, Use use) const {
    const std::vector<RankId> group = grid_.group(rank, axes_of(use, plan_.job.layout));
    return use == Use::embedding ? std::vector{group.front(), group.back()} : group;
}

// Activations go to the next stage, gradients to the one before.
RankId Groups::receiver_of(RankId sender, Use kind) const {
    const std::uint32_t stride = grid_.stride("pipeline"), own = static_cast<std::uint32_t>(sender);
    return RankId{kind == Use::activation_out ? own + stride : own - stride};
}

RankId Groups::sender_to(RankId receiver, Use kind) const {
    return receiver_of(receiver, kind == Use::activation_out ? Use::gradient_out : Use::activation_out);
}

Groups::Set Groups::make_boundary(RankId sender, Use kind) {
    Set set;
    set.lane = lane_of(kind);
    set.size = set.parties = 2;
    const std::vector<RankId> senders =
        folding_ == Folding::none ? std::vector{sender} : grid_.slice("pipeline", grid_.coordinate(sender, "pipeline"));
    for (const RankId from : senders) {
        set.communicators.push_back(planner_.single({from, receiver_of(from, kind)}));
    }
    return set;
}

Groups::Set Groups::make_set(const Cell& cell, Use use) {
    const std::vector<std::string> axes = axes_of(use, plan_.job.layout);
    const auto lay = [&](const std::vector<RankId>& group) {
        return use == Use::model || use == Use::embedding ? planner_.single(group) : planner_.ring(group);
    };
    Set set;
    set.lane = lane_of(use);
    const std::vector<RankId> own = members(cell.representative, use);
    set.size = static_cast<std::uint32_t>(own.size());
    if (folding_ == Folding::none) {
        set.parties = set.size;
        set.communicators.push_back(lay(own));
        return set;
    }
    set.parties = use == Use::model ? plan_.job.layout.pipeline : use == Use::embedding ? 2 : 1;
    for (const RankId rank : grid_.slice("pipeline", cell.stage)) {
        // Each group once: at the member whose coordinates along the axes are lowest within this stage.
        const bool first = std::ranges::all_of(
            axes, [&](const std::string& axis) { return axis == "pipeline" || grid_.coordinate(rank, axis) == 0; });
        if (first) set.communicators.push_back(lay(members(rank, use)));
    }
    return set;
}

CommunicationId Groups::communication(std::uint32_t index, const Call& call) {
    Set& set = sets_[index];
    const auto known = set.communications.find({call.op, call.message.value});
    if (known != set.communications.end()) return known->second;
    const LibraryCost& library = plan_.machine.library_cost;
    const Algorithm& algorithm = choose(call.op, set.size, call.message);
    auto [costs, fresh] = set.costs.try_emplace(&algorithm);
    if (fresh) costs->second = cost(algorithm, set.communicators, topology_, library);
    std::vector<Leg> legs;
    for (const PhaseCost& phase : costs->second) {
        legs.push_back({builder_.pattern(phase.pattern), phase.latency, call.message * phase.bytes_per_message_byte});
    }
    const Communication what{.op = call.op,
                             .dimension = set.lane,
                             .group_size = set.size,
                             .groups = static_cast<std::uint32_t>(set.communicators.size()),
                             .message = call.message};
    const CommunicationId id = builder_.communication(what, legs);
    set.communications.emplace(std::pair{call.op, call.message.value}, id);
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
