// A simulated step as its ranks would have recorded it: of each what it did and when, with whom, and what that waited
// for. The writers of traces (workloads/exports) walk it, rank by rank, so that a large step need not be held at once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sim/engine/timeline.hpp"
#include "workloads/layout/layout.hpp"
#include "workloads/recorded/reading.hpp"
#include "workloads/report/simulation.hpp"
#include "workloads/script/script.hpp"

namespace weft {

// One node per computation and call, in the order in which the rank issues them; joins are not among them, and their
// dependencies are those of what waits for them.
// Views are of what made it.
struct SimulatedRank {
    RankId rank{};
    std::uint32_t stage = 0;
    RecordedRank record{};                // computation as it took with what disturbed it; bytes as a rank puts them in
    std::vector<Span> spans{};            // of its nodes
    std::span<const ActionId> actions{};  // of the script of its stage, of its nodes
    std::span<const OpId> ops{};          // of the program, of its nodes
};

// Where a computation runs: 0 computes, 1 copies to the host's memory, 2 from there. Not of the host's lane.
std::uint32_t stream_of(LaneId lane);

class SimulatedRanks {
  public:
    // `run`: with every op by itself (Kept::ops); must outlive this.
    explicit SimulatedRanks(const Simulation& run);

    const Simulation& run() const { return run_; }
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(reading_.program.groups.front().size()); }
    std::size_t nodes(RankId rank) const { return class_of(class_number(rank)).ops.size(); }
    std::uint32_t stage(RankId rank) const { return run_.step.stage[RankClassId{class_number(rank)}]; }
    const Script& script(std::uint32_t stage) const { return scripts_[stage]; }

    SimulatedRank rank(RankId rank);
    LaneId lane(const SimulatedRank& rank, std::size_t node) const {
        return run_.step.program.ops[rank.ops[node]].lane;
    }
    // Groups by number, and names of what ranks do that were asked for so far; ranks are not in it.
    const RecordedProgram& program() const { return reading_.program; }

  private:
    // What the ranks of a class have in common.
    struct ClassNodes {
        std::vector<OpId> ops;
        std::vector<ActionId> actions;
        std::vector<ReadDependency> dependencies;
    };
    void number_groups();
    static std::vector<std::uint32_t> members_of(const PlacedGroups& placed, RankId rank);
    std::uint32_t class_number(RankId rank) const;
    const ClassNodes& class_of(std::uint32_t number) const;
    ClassNodes nodes_of(RankClassId id) const;
    void add_dependencies(const RankClass& of, ClassNodes& nodes) const;
    RecordedNode node(const SimulatedRank& rank, std::size_t number, const Action& action);
    void meet(RecordedNode& node, RankId rank, std::uint32_t stage, const Call& call);

    const Simulation& run_;
    RankGrid grid_;
    std::vector<Script> scripts_;  // by stage
    RecordedReading reading_;
    std::map<RankGroups, PlacedGroups> placed_;
    mutable std::map<std::uint32_t, ClassNodes> classes_;
};

}  // namespace weft
