#include "workloads/step/step_builder.hpp"

#include "sim/cost/communicator.hpp"
#include "sim/engine/timeline.hpp"

namespace weft {
namespace {

// Of one rank class. Exchanges that it shares with others count in part.
struct Counts {
    std::uint64_t ops = 0, parties = 0;
    double exchanges = 0.0, meetings = 0.0;

    Counts& operator+=(const Counts& other) {
        ops += other.ops;
        parties += other.parties;
        exchanges += other.exchanges;
        meetings += other.meetings;
        return *this;
    }
};
struct ScriptCounts {
    Counts stored, unfolded;     // with routines, and with those written out; meetings happen as in the latter
    std::uint64_t repeated = 0;  // see StepSize
};

// Counts what Placer writes.
class Counter {
  public:
    Counter(const Script& script, const CellKind& kind, const Jitter& jitter)
        : script_(script), parties_(kind.parties), has_jitter_(jitter.spread > 0.0) {}

    ScriptCounts count() {
        ActionId next = 0;
        for (const Repeat& repeat : repeated_excerpts(script_)) {
            add_plain(next, repeat.first);
            add(repeat);
            next = repeat.first + repeat.actions;
        }
        add_plain(next, static_cast<ActionId>(script_.actions().size()));
        return counts_;
    }

  private:
    // A part of an excerpt, and what a run of it is, if it is a routine.
    struct Part {
        ExcerptPart actions;
        Counts run{};
    };

    void add_plain(ActionId first, ActionId end) {
        const Counts plain = counted(first, end);
        counts_.stored += plain;
        counts_.unfolded += plain;
    }

    void add(const Repeat& repeat) {
        const auto [known, fresh] = excerpts_.try_emplace({repeat.original, repeat.actions});
        if (fresh) {
            for (ExcerptPart& part : cut(script_, repeat, [this](const Action& call) { return may_be_inside(call); }))
                known->second.push_back(define(repeat, std::move(part)));
        }
        for (const auto& [actions, run] : known->second) {
            if (actions.entries.empty()) {
                add_plain(repeat.first + actions.begin, repeat.first + actions.end);
                continue;
            }
            ++counts_.stored.ops;
            counts_.unfolded += run;
            if (has_jitter_ || run.meetings > 0.0) counts_.repeated += run.ops;
        }
    }

    bool may_be_inside(const Action& call) const {
        return parties_[call.subject] > 0 && may_be_in_routine(script_, call);
    }

    // A routine: its ops, and the one that leaves it.
    Part define(const Repeat& repeat, ExcerptPart&& part) {
        if (part.entries.empty()) return {std::move(part)};
        const Counts run = counted(repeat.first + part.begin, repeat.first + part.end);
        counts_.stored += run;
        ++counts_.stored.ops;
        return {std::move(part), run};
    }

    Counts counted(ActionId first, ActionId end) const {
        Counts counts;
        for (ActionId id = first; id < end; ++id) count(script_.actions()[id], counts);
        return counts;
    }

    void count(const Action& action, Counts& counts) const {
        switch (action.kind) {
            case Action::Kind::wait:
            case Action::Kind::join:
                return;
            case Action::Kind::call:
            case Action::Kind::issue:
                if (const std::uint32_t parties = parties_[action.subject]; parties > 0) {
                    ++counts.ops;
                    ++counts.parties;
                    counts.exchanges += 1.0 / parties;
                    if (parties > 1) counts.meetings += 1.0 / parties;
                }
                return;
            default:
                ++counts.ops;
        }
    }

    const Script& script_;
    const std::vector<std::uint32_t>& parties_;
    bool has_jitter_;
    std::map<std::pair<ActionId, std::uint32_t>, std::vector<Part>> excerpts_;  // by original and length
    ScriptCounts counts_;
};

// How many of a family's groups are others moved, by some of them: of the second half of these, which have enough
// others before them.
double moved_share(const Family& family, const Families& families, const Topology& topology) {
    constexpr std::size_t most_asked = 32;
    const std::size_t groups = family.groups.size(), asked = std::min(groups, most_asked);
    std::vector<std::span<const RankId>> bases;
    std::size_t moved = 0, judged = 0;
    for (std::size_t i = 0; i < asked; ++i) {
        const std::span<const RankId> group = families.members(family.groups[i * groups / asked]);
        const bool is_moved = std::ranges::any_of(bases, [&](std::span<const RankId> base) {
            const auto by = shift_between(base, group);
            return by && topology.move(base, *by);
        });
        if (!is_moved) bases.push_back(group);
        if (2 * i < asked) continue;
        ++judged;
        if (is_moved) ++moved;
    }
    return judged > 0 ? static_cast<double>(moved) / static_cast<double>(judged) : 0.0;
}

// Of a group of the family, by all that its calls may take.
std::uint64_t loads_of_one(const Family& family, const Families& families, CostsPool& pool) {
    const std::span<const RankId> members = families.members(family.groups.front());
    GroupCosts& one = pool.find({.size = family.shape.members, .ranks = {members.begin(), members.end()}});
    std::vector<Choice> counted;
    std::uint64_t loads = 0;
    for (const Call& call : family.calls) {
        const std::optional<Choice> choice = one.choose(call.op, call.message);
        if (!choice || std::ranges::find(counted, *choice) != counted.end()) continue;
        counted.push_back(*choice);
        for (const PhaseCost& phase : one.phases_unmoved(*choice)) loads += phase.pattern.loads.size();
    }
    return loads;
}

void add_loads(StepSize& size, const Family& family, const Families& families, CostsPool& pool) {
    if (family.shape.members == 1) return;
    const std::uint64_t all = loads_of_one(family, families, pool) * family.groups.size();
    const auto moved =
        static_cast<std::uint64_t>(static_cast<double>(all) * moved_share(family, families, pool.topology()));
    size.moved += moved;
    size.routed += all - moved;
}

constexpr double number(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

// What an operation holds that is kept: itself, its numbers in the program (what it waits for and who waits for it, an
// edge each and a little more) and in its builder, whether it runs ahead and how far; and in every class: its span,
// what it waits for, how often it went ahead, and when if it may; of a routine, when it happened each time that it did
// not go ahead, and itself and its span again if that is written out. An exchange: itself, where it stands, who takes
// part. Loads are in the costs, the program, and if they stay apart in the network's transposes, demands and
// constraints (measured).
Bytes StepSize::memory() const {
    constexpr double process = 12e6, number_bytes = sizeof(std::uint32_t);
    constexpr double of_kept = sizeof(Op) + 9 * number_bytes;
    constexpr double of_op = sizeof(Span) + 2 * number_bytes + sizeof(std::int64_t);
    constexpr double of_party = 3 * number_bytes;
    constexpr double of_exchange = sizeof(Exchange) + 3 * number_bytes;
    constexpr double of_repeated = RoutineParts::usual_bytes;
    constexpr double of_written_kept = sizeof(Op) + 3 * number_bytes;
    constexpr double of_rank = 100, of_routed = 65, of_moved = 22;
    Bytes written_out;
    if (is_written_out && unfolded_ops != ops) {
        written_out = Bytes{of_written_kept * number(unfolded_kept) + sizeof(Span) * number(unfolded_ops) +
                            number_bytes * number(ops + unfolded_parties) +
                            (sizeof(Exchange) + number_bytes) * number(unfolded_exchanges)};
    }
    return written_out + Bytes{process + of_kept * number(kept) + of_op * number(ops) + of_party * number(parties) +
                               of_exchange * number(exchanges) + of_repeated * number(repeated) + of_rank * ranks +
                               of_routed * number(routed) + of_moved * number(moved)};
}

// On a core of 2.8 GHz. Classes that meet share links with the more others the more there are, and a solve looks at
// those: what a meeting costs grows with the classes, until a solve's neighbourhood is full.
Seconds StepSize::time() const {
    constexpr double process = 0.01, of_op = 0.15e-6, of_crowded_meeting = 5e-6, half_crowded = 1500;
    constexpr double of_routed = 0.25e-6, of_moved = 0.03e-6;
    const double of_meeting = of_crowded_meeting * classes / (classes + half_crowded);
    return Seconds{process + of_op * number(ops + repeated) + of_meeting * number(meetings) +
                   of_routed * number(routed) + of_moved * number(moved)};
}

StepSize size_of(const Plan& plan, std::span<const Script> scripts, const RankClasses& classes, Families& families,
                 const Topology& topology) {
    ProgramBuilder unused(lanes::names());
    GroupSets groups(plan, families, classes, unused);
    StepSize size{.classes = static_cast<std::uint32_t>(classes.cells.size())};
    std::map<CellKind, ScriptCounts> known;
    double exchanges = 0.0, unfolded_exchanges = 0.0, meetings = 0.0;
    for (const Cell& cell : classes.cells) {
        const Script& script = scripts[cell.stage];
        const auto [it, fresh] = known.try_emplace(kind_of(cell, script, groups));
        if (fresh) it->second = Counter(script, it->first, plan.job.faults.jitter).count();
        const auto& [stored, unfolded, repeated] = it->second;
        if (fresh) size.kept += stored.ops, size.unfolded_kept += unfolded.ops;
        size.ranks += cell.weight;
        size.ops += stored.ops;
        size.parties += stored.parties;
        size.repeated += repeated;
        size.unfolded_ops += unfolded.ops;
        size.unfolded_parties += unfolded.parties;
        exchanges += stored.exchanges;
        unfolded_exchanges += unfolded.exchanges;
        meetings += unfolded.meetings;
    }
    size.exchanges = static_cast<std::uint64_t>(exchanges + 0.5);
    size.unfolded_exchanges = static_cast<std::uint64_t>(unfolded_exchanges + 0.5);
    size.meetings = static_cast<std::uint64_t>(meetings + 0.5);
    CostsPool own(topology, families.library());  // channels may depend on those laid before
    for (const Family& family : families.families()) add_loads(size, family, families, own);
    return size;
}

}  // namespace weft
