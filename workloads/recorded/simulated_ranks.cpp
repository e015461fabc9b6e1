#include "workloads/recorded/simulated_ranks.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "sim/base/check.hpp"
#include "workloads/stage/stage_script.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

bool is_call(const Action& action) { return action.kind == Action::Kind::call || action.kind == Action::Kind::issue; }

bool takes_time(const Action& action) { return action.kind != Action::Kind::wait && action.kind != Action::Kind::join; }

}  // namespace

std::uint32_t stream_of(LaneId lane) { return lane == lanes::store ? 1 : lane == lanes::load ? 2 : 0; }

SimulatedRanks::SimulatedRanks(const Simulation& run) : run_(run), grid_(run.plan.job.layout.grid()) {
    WEFT_CHECK(run.step.program.routines.empty(), "ranks are read from ops that are written out");
    for (std::uint32_t stage = 0; stage < run.plan.stages.size(); ++stage)
        scripts_.push_back(step_script(run.plan, stage, run.plan.job.step));
    reading_.program.groups.front() = numbers_below<std::uint32_t>(run.plan.job.layout.ranks());
    reading_.group_ids.emplace(reading_.program.groups.front(), 0);
    number_groups();
}

// All of them, in the order of their first ranks, so that numbers do not depend on which ranks are asked for.
void SimulatedRanks::number_groups() {
    for (const Script& script : scripts_) {
        for (const Call& call : script.calls()) {
            if (!call.crosses_boundary()) placed_.try_emplace(call.group, call.group, run_.plan.job.layout);
        }
    }
    for (const auto& [kind, placed] : placed_) {
        std::vector<bool> is_numbered(ranks());
        for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
            if (is_numbered[rank]) continue;
            const std::vector<std::uint32_t> members = members_of(placed, RankId{rank});
            for (const std::uint32_t member : members) is_numbered[member] = true;
            if (members.size() > 1) reading_.group(members);
        }
    }
}

std::vector<std::uint32_t> SimulatedRanks::members_of(const PlacedGroups& placed, RankId rank) {
    return list_of<std::uint32_t>(placed.members(rank), [](RankId member) { return index(member); });
}

std::uint32_t SimulatedRanks::class_number(RankId rank) const {
    const std::vector<std::uint32_t>& of_rank = run_.step.class_of_rank;
    return of_rank.empty() ? grid_.coordinate(rank, "pipeline") : of_rank[index(rank)];
}

const SimulatedRanks::ClassNodes& SimulatedRanks::class_of(std::uint32_t number) const {
    const auto known = classes_.find(number);
    return known != classes_.end() ? known->second
                                   : classes_.emplace(number, nodes_of(RankClassId{number})).first->second;
}

// The ops of a class are the actions of its script in order, without calls in groups of one, and with joins between.
SimulatedRanks::ClassNodes SimulatedRanks::nodes_of(RankClassId id) const {
    const Program& program = run_.step.program;
    const RankClass& of = program.classes[id];
    const Script& script = scripts_[run_.step.stage[id]];
    ClassNodes nodes;
    ActionId next = 0;
    for (std::uint32_t op = of.first_op; op < of.end_op(); ++op) {
        const OpKind kind = program.ops[OpId{op}].kind;
        if (kind == OpKind::join) continue;
        for (;; ++next) {
            WEFT_CHECK(next < script.actions().size(), "an op is an action");
            const Action& action = script.actions()[next];
            if (!takes_time(action)) continue;
            if (!is_call(action)) break;
            const RankGroups groups = script.calls()[action.subject].group;
            if (group_size(groups, run_.plan.job.layout, of.representative) > 1) break;
        }
        WEFT_CHECK(is_call(script.actions()[next]) == (kind == OpKind::exchange), "calls are exchanges");
        nodes.ops.push_back(OpId{op});
        nodes.actions.push_back(next++);
    }
    add_dependencies(of, nodes);
    return nodes;
}

void SimulatedRanks::add_dependencies(const RankClass& of, ClassNodes& nodes) const {
    const Program& program = run_.step.program;
    const auto place = [&of](OpId op) { return index(op) - of.first_op; };
    std::vector<std::vector<std::uint32_t>> waits(of.ops);  // by op, for nodes
    std::vector<std::uint32_t> node_at(of.ops, no_node);
    for (std::uint32_t i = 0; i < nodes.ops.size(); ++i) node_at[place(nodes.ops[i])] = i;
    for (std::uint32_t op = 0; op < of.ops; ++op) {  // what an op waits for was added before it
        std::vector<std::uint32_t>& own = waits[op];
        std::ranges::sort(own);
        own.erase(std::unique(own.begin(), own.end()), own.end());
        if (node_at[op] != no_node) {
            for (const std::uint32_t on : own) nodes.dependencies.push_back({node_at[op], on, false});
            own.assign(1, node_at[op]);
        }
        for (const OpId after : program.successors_of(OpId{of.first_op + op})) {
            std::vector<std::uint32_t>& later = waits[place(after)];
            later.insert(later.end(), own.begin(), own.end());
        }
        own = {};
    }
}

SimulatedRank SimulatedRanks::rank(RankId rank) {
    const std::uint32_t number = class_number(rank);
    const ClassNodes& nodes = class_of(number);
    SimulatedRank found{.rank = rank, .stage = run_.step.stage[RankClassId{number}]};
    found.ops = nodes.ops;
    found.actions = nodes.actions;
    for (const OpId op : nodes.ops) found.spans.push_back(run_.timeline.spans[op]);
    const std::vector<Action>& actions = scripts_[found.stage].actions();
    for (std::size_t i = 0; i < nodes.ops.size(); ++i) {
        RecordedNode what = node(found, i, actions[nodes.actions[i]]);
        if (what.kind == RecordedKind::compute) {
            const LaneId on = lane(found, i);
            const bool is_host = on == lanes::host;
            const std::string unit = is_host ? "host" : "stream " + std::to_string(stream_of(on));
            what.unit = reading_.unit(found.record, unit, is_host);
        }
        found.record.nodes.push_back(what);
    }
    RecordedReading::set_dependencies(found.record, nodes.dependencies);
    return found;
}

RecordedNode SimulatedRanks::node(const SimulatedRank& rank, std::size_t number, const Action& action) {
    const Script& script = scripts_[rank.stage];
    RecordedNode node{.id = number,
                      .time = since_start(rank.spans[number].end) - since_start(rank.spans[number].begin)};
    if (is_call(action)) {
        const Call& call = script.calls()[action.subject];
        node.name = reading_.names(call.label);
        meet(node, rank.rank, rank.stage, call);
    } else {
        node.kind = RecordedKind::compute;
        node.name = reading_.names(script.labels()[action.label]);
    }
    return node;
}

void SimulatedRanks::meet(RecordedNode& node, RankId rank, std::uint32_t stage, const Call& call) {
    node.op = call.op;
    node.bytes = call.message;
    if (call.crosses_boundary()) {
        const std::uint32_t stride = grid_.stride("pipeline");
        node.kind = call.direction == Direction::send ? RecordedKind::send : RecordedKind::receive;
        node.partner = static_cast<std::uint32_t>(rank) + call.peer * stride - stage * stride;
        node.tag = call.port;
        return;
    }
    const std::vector<std::uint32_t> members = members_of(placed_.at(call.group), rank);
    node.kind = RecordedKind::collective;
    if (call.op == Collective::all_gather) node.bytes = node.bytes / static_cast<double>(members.size());
    node.partner = reading_.group(members);
}

}  // namespace weft
