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
    std::vector<std::string> axes;  // model: tensor and pipeline, in the order of the layout
    std::ranges::copy_if(layout.order, std::back_inserter(axes),
                         [](const std::string& axis) { return axis != "data"; });
    return axes;
}

LaneId lane_of(Use use) {
    return use == Use::tensor  ? lanes::tensor
           : use == Use::data  ? lanes::data
           : use == Use::model ? lanes::model
                               : lanes::pipeline_send;
}

bool is_boundary(Use use) { return use >= Use::activation_out; }
bool is_forward(Use use) { return use == Use::activation_out || use == Use::activation_in; }
bool is_sender(Use use) { return use == Use::activation_out || use == Use::gradient_out; }

RankId shifted(RankId rank, std::int64_t by) {
    return RankId(static_cast<std::uint32_t>(static_cast<std::int64_t>(rank) + by));
}

}  // namespace

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
    Key key;
    if (is_boundary(use)) {
        // A boundary and direction is known by its sender.
        const std::int64_t stride = grid_.stride("pipeline");
        const std::int64_t to_sender = is_sender(use) ? 0 : is_forward(use) ? -stride : stride;
        key = {is_forward(use) ? 3 : 4, static_cast<std::uint32_t>(shifted(cell.representative, to_sender))};
    } else if (use == Use::model) {
        key = {2, folding_ == Folding::stages
                      ? 0
                      : static_cast<std::uint32_t>(
                            grid_.group(cell.representative, axes_of(use, plan_.job.layout)).front())};
    } else {
        key = {
            static_cast<int>(use),
            folding_ == Folding::stages
                ? static_cast<std::uint32_t>(cell.representative)
                : static_cast<std::uint32_t>(grid_.group(cell.representative, axes_of(use, plan_.job.layout)).front())};
    }
    const auto [it, inserted] = index_.try_emplace(key, static_cast<std::uint32_t>(sets_.size()));
    if (inserted) {
        if (is_boundary(use)) {
            const std::int64_t stride = grid_.stride("pipeline");
            const std::int64_t to_sender = is_sender(use) ? 0 : is_forward(use) ? -stride : stride;
            Cell sender = cell;
            sender.representative = shifted(cell.representative, to_sender);
            sender.stage = grid_.coordinate(sender.representative, "pipeline");
            sets_.push_back(make_boundary(sender, is_forward(use)));
        } else {
            sets_.push_back(make_set(cell, use));
        }
    }
    return it->second;
}

Groups::Set Groups::make_boundary(const Cell& sender, bool forward) {
    const std::int64_t stride = grid_.stride("pipeline");
    Set set;
    set.lane = lanes::pipeline_send;
    set.size = set.parties = 2;
    const auto pair = [&](RankId from) { return planner_.single({from, shifted(from, forward ? stride : -stride)}); };
    if (folding_ == Folding::none) {
        set.communicators.push_back(pair(sender.representative));
    } else {
        for (const RankId rank : grid_.slice("pipeline", sender.stage)) set.communicators.push_back(pair(rank));
    }
    return set;
}

Groups::Set Groups::make_set(const Cell& cell, Use use) {
    const std::vector<std::string> axes = axes_of(use, plan_.job.layout);
    const auto lay = [&](const std::vector<RankId>& members) {
        return use == Use::model ? planner_.single(members) : planner_.ring(members);
    };
    Set set;
    set.lane = lane_of(use);
    const std::vector<RankId> own = grid_.group(cell.representative, axes);
    set.size = static_cast<std::uint32_t>(own.size());
    if (folding_ == Folding::none) {
        set.parties = set.size;
        set.communicators.push_back(lay(own));
        return set;
    }
    set.parties = use == Use::model ? plan_.job.layout.pipeline : 1;
    for (const RankId rank : grid_.slice("pipeline", cell.stage)) {
        std::vector<RankId> members = grid_.group(rank, axes);
        // Each group once: at the member whose coordinates along the axes are lowest within this stage.
        const bool first = std::ranges::all_of(
            axes, [&](const std::string& axis) { return axis == "pipeline" || grid_.coordinate(rank, axis) == 0; });
        if (first) set.communicators.push_back(lay(members));
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
