// From a plan to a program: one list of operations per rank class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/network/link_traffic.hpp"
#include "sim/program/program.hpp"
#include "sim/program/program_builder.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/groups/costs_pool.hpp"
#include "workloads/groups/families.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"
#include "workloads/step/group_sets.hpp"

namespace weft {

// Lays the script of a stage on the network: from what a rank does to the operations of its class.

// Where the work of a program comes from.

// Of the computations that take equally long the first: its stage, and its number in the work of the stage's script.
struct WorkOrigin {
    std::uint32_t stage = 0, number = 0;
};

// Adds `script` to the class begun last, which is `cell`. Calls in groups of one take no time and become nothing.
// `origins`: of the work in the program so far, by its number; lengthened by what is new.
void place_script(const Script& script, const Cell& cell, GroupSets& groups, ProgramBuilder& builder,
                  std::vector<WorkOrigin>& origins);

// How much a step will hold and cost, told once its rank classes are known and before its tables are made.

// Counts of what the program will have. Those of operations are right but for a few joins, and routines that a class
// cannot use; those of loads are as if groups shared no link.
struct StepSize {
    std::uint32_t ranks = 0, classes = 0;
    std::uint64_t ops = 0;        // of the program
    std::uint64_t parties = 0;    // of them, that take part in an exchange
    std::uint64_t exchanges = 0;  // of the program
    std::uint64_t repeated = 0;   // ops of routines that do not run ahead, as often as they run
    // The same of the program with its routines written out (sim/engine/timeline.hpp), and whether it will be.
    std::uint64_t unfolded_ops = 0, unfolded_parties = 0, unfolded_exchanges = 0;
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
    std::vector<Split> splits;                 // why there are more classes than stages
    std::vector<WorkOrigin> work_origins;      // of Program::work, by its number
};

// Told how large a step will be before its tables are made; throws to refuse it.
using SizeListener = std::function<void(const StepSize&)>;

struct StepOptions {
    Folding folding = Folding::stages;
    SizeListener on_size{};
    bool merges_equal_links = true;  // sim/network/equal_links; only who adds more traffic keeps them apart
};

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
