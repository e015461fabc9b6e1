// From a plan to a program: one list of operations per rank class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cost/group_costs.hpp"
#include "sim/network/link_traffic.hpp"
#include "sim/program/program.hpp"
#include "sim/program/program_builder.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/groups/families.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {

// The groups that rank classes communicate in, laid on the topology, and the communications they hold. Equal groups
// do the same together, so they are one *group set*, whose traffic is added up.

class GroupSets {
  public:
    GroupSets(const Plan& plan, Families& families, const RankClasses& classes, ProgramBuilder& builder)
        : plan_(plan),
          families_(families),
          classes_(classes),
          builder_(builder),
          groups_of_(classes.groups),
          set_of_(classes.groups, nowhere) {
        for (std::uint32_t group = 0; group < families.groups(); ++group)
            groups_of_[classes.of_group[group]].push_back(group);
    }

    // The group set in which `cell` issues `call`; created on first use. Sends and receives through one port share one.
    std::uint32_t find(const Cell& cell, const Call& call) {
        const std::uint32_t group = families_.group_of(cell.representative, cell.stage, call);
        std::uint32_t& set = set_of_[classes_.of_group[group]];
        if (set == nowhere) {
            set = static_cast<std::uint32_t>(sets_.size());
            sets_.push_back(make_set(group, call));
        }
        return set;
    }

    std::uint32_t size(std::uint32_t set) const { return sets_[set].size; }
    std::uint32_t parties(std::uint32_t set) const { return sets_[set].parties; }  // rank classes that meet in it
    LaneId lane(const Call& call) const {
        if (!call.crosses_boundary()) return lanes::of(call.group);
        const bool send = call.direction == Direction::send;
        if (plan_.job.schedule->handover == Schedule::Handover::blocking) {
            return send ? lanes::pipeline_send : lanes::pipeline_receive;
        }
        return send ? lanes::send_of_port(call.port) : lanes::receive_of_port(call.port);
    }

    // `call` on a group set: its legs on the wire. Created on first call.
    CommunicationId communication(std::uint32_t index, const Call& call) {
        Set& set = sets_[index];
        const auto known = set.communications.find({call.op, call.message.value, call.first_use.value});
        if (known != set.communications.end()) return known->second;
        const Choice choice = set.whole->require(call.op, call.message);
        const std::vector<PhaseCost>& phases = set.costs->phases_unmoved(choice);
        std::vector<PatternId>& patterns = set.patterns[choice];
        if (patterns.empty()) {
            for (std::size_t i = 0; i < phases.size(); ++i) {
                patterns.push_back(builder_.pattern(set.costs->pattern(choice, i)));
            }
        }
        std::vector<Leg> legs;
        for (std::size_t i = 0; i < phases.size(); ++i) {
            const Seconds set_up = i == 0 ? call.first_use : Seconds{};
            legs.push_back({patterns[i], phases[i].latency(call.message) + set_up, phases[i].bytes(call.message)});
        }
        const std::uint32_t method = builder_.method({.algorithm = choice.protocol->algorithm,
                                                      .protocol = choice.protocol->protocol,
                                                      .channels = set.whole->channels(choice)});
        const Communication what{.op = call.op,
                                 .dimension = set.lane,
                                 .group_size = set.size,
                                 .groups = set.groups,
                                 .message = call.message,
                                 .method = method};
        const CommunicationId id = builder_.communication(what, legs);
        set.communications.emplace(std::tuple{call.op, call.message.value, call.first_use.value}, id);
        return id;
    }

    // The n-th exchange of a group set, shared by its parties; each party must ask for the same communications in the
    // same order.
    ExchangeId occurrence(std::uint32_t index, std::uint32_t n, CommunicationId communication) {
        Set& set = sets_[index];
        if (set.parties == 1) return builder_.exchange(communication, 1);
        WEFT_CHECK(n <= set.exchanges.size(), "exchanges of a group are numbered without gaps");
        if (n == set.exchanges.size())
            set.exchanges.emplace_back(builder_.exchange(communication, set.parties), communication);
        WEFT_CHECK(set.exchanges[n].second == communication, "the members of a group issue different calls");
        return set.exchanges[n].first;
    }

  private:
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
    struct Set {
        LaneId lane{};
        std::uint32_t size = 1, parties = 1;
        std::uint32_t groups = 1;  // laid together
        GroupCosts* whole;         // of the family, which chooses algorithms
        GroupCosts* costs;         // of the set; `whole`, or `own`
        std::unique_ptr<GroupCosts> own{};
        std::map<Choice, std::vector<PatternId>> patterns{};  // of its phases, in the program
        std::map<std::tuple<Collective, double, double>, CommunicationId> communications{};
        std::vector<std::pair<ExchangeId, CommunicationId>> exchanges{};
    };
    std::uint32_t cell_of(RankId rank) const {
        return classes_.of_rank.empty() ? families_.stage_of(rank) : classes_.of_rank[index(rank)];
    }
    // Whether each group of the family is: cells are stages, and it keeps to one.
    bool is_in_one_cell(const Family& family) const { return classes_.of_rank.empty() && family.kind.keeps_to_stage(); }

    // A set that is the whole family needs no costs of its own.
    Set make_set(std::uint32_t group, const Call& call) {
        Call sending = call;
        if (call.crosses_boundary()) sending.direction = Direction::send;
        Family& family = families_.families()[families_.family_of(group)];
        const std::vector<std::uint32_t>& own = groups_of_[classes_.of_group[group]];
        std::vector<std::uint32_t> parties;
        std::span<const RankId> members = families_.members(group);
        if (is_in_one_cell(family)) members = members.first(1);
        for (const RankId rank : members) {
            const std::uint32_t cell = cell_of(rank);
            if (parties.empty() || parties.back() != cell) parties.push_back(cell);  // mostly one
        }
        std::ranges::sort(parties);
        parties.erase(std::unique(parties.begin(), parties.end()), parties.end());
        Set set{.lane = lane(sending),
                .size = family.shape.members,
                .parties = static_cast<std::uint32_t>(parties.size()),
                .groups = static_cast<std::uint32_t>(own.size()),
                .whole = family.costs,
                .costs = family.costs};
        if (own.size() < family.groups.size()) {
            set.own = std::make_unique<GroupCosts>(families_.costs(own, *set.whole));
            set.costs = set.own.get();
        }
        return set;
    }

    const Plan& plan_;
    Families& families_;
    const RankClasses& classes_;
    ProgramBuilder& builder_;
    std::vector<std::vector<std::uint32_t>> groups_of_;  // by their number in classes_.of_group
    std::vector<Set> sets_;
    std::vector<std::uint32_t> set_of_;  // by the same number
};

// Lays the script of a stage on the network: from what a rank does to the operations of its class.

// Where the work of a program comes from.

// Of the computations that take equally long the first: its stage, and its number in the work of the stage's script.
struct WorkOrigin {
    std::uint32_t stage = 0, number = 0;
};

// What makes cells do the same: stage, how slow they are, and by call of the script how many rank classes meet in it; 0
// for a group of one.
struct CellKind {
    std::uint32_t stage = 0;
    double slowness = 1.0;
    std::vector<std::uint32_t> parties;
    auto operator<=>(const CellKind&) const = default;
};
CellKind kind_of(const Cell& cell, const Script& script, GroupSets& groups);

// Adds classes to a program: cells with their scripts. Calls in groups of one take no time and become nothing.
class ScriptPlacer {
  public:
    // The arguments must outlive this.
    ScriptPlacer(GroupSets& groups, ProgramBuilder& builder) : groups_(groups), builder_(builder) {}

    // Cells of a stage follow one another.
    void place(const Script& script, const Cell& cell, std::string name);
    // Of the work in the program so far, by its number.
    std::vector<WorkOrigin> take_origins() && { return std::move(origins_); }

  private:
    // A class, and the calls that its exchanges are, in order.
    struct Placed {
        RankClassId rank_class{};
        std::vector<std::uint32_t> calls;
    };

    GroupSets& groups_;
    ProgramBuilder& builder_;
    std::vector<WorkOrigin> origins_;
    std::map<CellKind, Placed> placed_;  // of the stage at hand
};

// How much a step will hold and cost, told once its rank classes are known and before its tables are made.

// Counts of what the program will have. Those of operations are right but for a few joins, and routines that a class
// cannot use; those of loads are as if groups shared no link.
struct StepSize {
    std::uint32_t ranks = 0, classes = 0;
    std::uint64_t ops = 0;        // of the program
    std::uint64_t kept = 0;       // of them, where those that several classes share count once
    std::uint64_t parties = 0;    // of them, that take part in an exchange
    std::uint64_t exchanges = 0;  // of the program
    std::uint64_t repeated = 0;   // ops of routines that do not run ahead, as often as they run
    // The same of the program with its routines written out (sim/engine/timeline.hpp), and whether it will be.
    std::uint64_t unfolded_ops = 0, unfolded_kept = 0, unfolded_parties = 0, unfolded_exchanges = 0;
    bool is_written_out = false;
    std::uint64_t meetings = 0;  // exchanges of several classes, as often as they happen: they never run ahead
    std::uint64_t routed = 0;    // loads of links by groups that have to be routed
    std::uint64_t moved = 0;     // by groups that are others moved, whose links mostly become one with those

    std::uint64_t loads() const { return routed + moved; }
    // The most that the process will hold, by the sizes of the tables of step and engine.
    Bytes memory() const;
    // CPU time from the plan to the timeline, by costs that were measured (bench/README.md).
    Seconds time() const;
};

StepSize size_of(const Plan& plan, std::span<const Script> scripts, const RankClasses& classes, Families& families,
                 const Topology& topology);

struct Step {
    Program program;
    EqualLinks equal_links;                    // of its patterns
    Table<RankClassId, std::uint32_t> stage;   // of each rank class
    std::vector<std::uint32_t> class_of_rank;  // empty where classes are the stages
    Folding folding = Folding::exact;          // as was done
    // Where automatic folding foresaw that exact would take too long or too much: how large that would be.
    std::optional<StepSize> exact{};
    std::vector<Split> splits;             // why there are more classes than stages
    std::vector<WorkOrigin> work_origins;  // of Program::work, by its number

    RankClassId class_of_stage(std::uint32_t number) const {  // the first
        const auto first = std::ranges::find(stage, number);
        WEFT_CHECK(first != stage.end(), "a stage without a rank class");
        return RankClassId(static_cast<std::uint32_t>(first - stage.begin()));
    }
};

// Told how large a step will be before its tables are made; throws to refuse it.
using SizeListener = std::function<void(const StepSize&)>;

struct StepOptions {
    Folding folding = Folding::stages;
    SizeListener on_size{};
    bool is_written_out = false;     // afterwards: StepSize::is_written_out
    bool merges_equal_links = true;  // sim/network/equal_links; only who adds more traffic keeps them apart
};

// Where Folding::automatic is exact: where that is foreseen to stay within these. Of more ranks nobody asks, which
// would take longer than to simulate their stages.
struct ExactWhere {
    Seconds time{3.0};
    Bytes memory{0x1p30};
    std::uint32_t ranks = 2048;
};
inline constexpr ExactWhere exact_where;

// One step of the kind that the job asks for; what comes before the first one. The pool is of the plan's library.
Step build_step(const Plan& plan, CostsPool& pool, const StepOptions& options = {});
Step build_start_up(const Plan& plan, CostsPool& pool, const StepOptions& options = {});
// How large build_step would find it, and how it would be folded.
struct SizedStep {
    StepSize size;
    Folding folding = Folding::exact;
};
SizedStep size_step(const Plan& plan, CostsPool& pool, const StepOptions& options = {});

// Which stretches of a repeated excerpt can be routines of the program: rows of entries, as the engine's routines
// are.

// All excerpts that a script has more than once, the originals as well, in order. Of those that lie in one another,
// the longest.
std::vector<Repeat> repeated_excerpts(const Script& script);

// Whether all who take part in a call have the same script, and so the same routines, and no later call of the same
// lane may be waiting for it alone.
bool may_be_in_routine(const Script& script, const Action& call);

// Actions of an excerpt, counted from its first.
struct RoutineEntry {
    std::uint32_t action = 0;
    std::optional<std::uint32_t> beside;  // a computation beside a call
};
struct ExcerptPart {
    std::uint32_t begin = 0, end = 0;
    std::vector<RoutineEntry> entries;  // of a routine, which ends with `end`; otherwise none
};

// Cuts an excerpt, as written by `repeat`. A routine ends with an action of the chain, and of its actions nothing
// outside refers to another one. `may_be_in_one` tells of a call.
std::vector<ExcerptPart> cut(const Script& script, const Repeat& repeat,
                             const std::function<bool(const Action& call)>& may_be_in_one);

}  // namespace weft
