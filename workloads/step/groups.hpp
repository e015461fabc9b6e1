// The groups that communicate, laid on the topology, and the communications they hold. Ranks of one class do the same
// together, so all their groups of a kind are one *group set*, whose traffic is added up.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/collective/communicator.hpp"
#include "sim/program/program_builder.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/machine.hpp"
#include "workloads/plan.hpp"

namespace weft {

enum class Folding : std::uint8_t {
    stages,  // the ranks of a pipeline stage are one class
    none,    // every rank is its own class: slow, for doubt and for tests
};

// One rank class.
struct Cell {
    std::uint32_t stage = 0;
    RankId representative{};
    std::uint32_t weight = 1;
};

std::vector<Cell> make_cells(const Plan& plan, Folding folding);

// What a rank uses a group for. Sends and receives of one boundary and direction share a group set.
enum class Use : std::uint8_t {
    tensor,
    data,
    model,
    embedding,
    activation_out,
    activation_in,
    gradient_out,
    gradient_in,
};
inline constexpr std::size_t uses = 8;

LaneId lane_of(Use use);

class Groups {
  public:
    Groups(const Plan& plan, const Topology& topology, Folding folding, ProgramBuilder& builder);

    // The group set of `cell` for `use`; created on first call.
    std::uint32_t find(const Cell& cell, Use use);
    std::uint32_t size(std::uint32_t set) const { return sets_[set].size; }
    // `call` on a group set: its legs on the wire. Created on first call.
    CommunicationId communication(std::uint32_t set, const Call& call);
    // The n-th exchange of a group set, shared by its parties; each party must ask for the same communications in the
    // same order.
    ExchangeId occurrence(std::uint32_t set, std::uint32_t n, CommunicationId communication);

  private:
    struct Set {
        std::vector<Communicator> communicators;
        LaneId lane{};
        std::uint32_t size = 1, parties = 1;
        std::map<const Algorithm*, std::vector<PhaseCost>> costs;
        std::map<std::pair<Collective, double>, CommunicationId> communications;
        std::vector<std::pair<ExchangeId, CommunicationId>> exchanges;
    };
    using Key = std::pair<Use, RankId>;  // the sender's use, the rank the group is known by

    RankId receiver_of(RankId sender, Use kind) const;
    RankId sender_to(RankId receiver, Use kind) const;
    std::vector<RankId> members(RankId rank, Use use) const;
    Set make_boundary(RankId sender, Use kind);
    Set make_set(const Cell& cell, Use use);

    const Plan& plan_;
    const Topology& topology_;
    Folding folding_;
    ProgramBuilder& builder_;
    RankGrid grid_;
    ChannelPlanner planner_;
    std::vector<Set> sets_;
    std::map<Key, std::uint32_t> index_;
};

}  // namespace weft
