#include "workloads/step/families.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"

namespace weft {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

Library library_of(const Plan& plan) {
    Library library = plan.machine.library();
    if (plan.job.deepspeed.log_calls == Setting::on) library.launch += library.blocking;
    return library;
}

}  // namespace

Families::Families(const Plan& plan, const Topology& topology, std::span<const Script> scripts)
    : plan_(plan),
      topology_(topology),
      library_(library_of(plan)),
      grid_(plan.job.layout.grid()),
      stride_(grid_.stride("pipeline")),
      planner_(topology) {
    for (std::uint32_t stage = 0; stage < scripts.size(); ++stage) {
        for (const Call& call : scripts[stage].calls()) {
            if (call.direction != Direction::receive) add_groups(call, stage);
        }
    }
    for (Family& family : families_) {
        family.costs = std::make_unique<GroupCosts>(costs(family.groups, nullptr));
    }
}

Families::SlotKey Families::key_of(const Call& call, std::uint32_t stage) {
    if (call.group != GroupKind::boundary) return {call.group, 0, 0, 0};
    const bool sends = call.direction == Direction::send;
    return {call.group, sends ? stage : call.peer, sends ? call.peer : stage, call.port};
}

// Ranks of a stage are numbered in ascending order.
std::uint32_t Families::place_on_stage(RankId rank) const {
    const auto r = static_cast<std::uint32_t>(rank);
    return r / (stride_ * grid_.size("pipeline")) * stride_ + r % stride_;
}

// The rank that sits on another stage where `rank` sits on its own.
RankId Families::on_stage(RankId rank, std::uint32_t stage) const {
    const auto r = static_cast<std::uint32_t>(rank);
    return RankId{r - r / stride_ % grid_.size("pipeline") * stride_ + stage * stride_};
}

std::uint32_t Families::group_of(RankId rank, std::uint32_t stage, const Call& call) const {
    const SlotKey key = key_of(call, stage);
    const Slot& slot = slots_[slot_ids_.at(key)];
    if (call.group != GroupKind::boundary) return slot.group_of[index(rank)];
    return slot.group_of[place_on_stage(rank)];  // sender and receiver have the same place
}

std::vector<RankId> Families::members(std::uint32_t group) const {
    const Family& family = families_[family_of_[group]];
    if (family.kind == GroupKind::boundary) return {first_[group], on_stage(first_[group], receiver_[group])};
    return kinds_.at(family.kind).members(first_[group]);
}

void Families::add_groups(const Call& call, std::uint32_t stage) {
    const auto [it, is_new] = slot_ids_.try_emplace(key_of(call, stage), static_cast<std::uint32_t>(slots_.size()));
    const std::uint32_t slot = it->second;
    if (is_new) slots_.emplace_back();
    std::vector<std::uint32_t>& group_of = slots_[slot].group_of;
    if (call.group == GroupKind::boundary) {
        if (group_of.empty()) {
            for (const RankId sender : grid_.slice("pipeline", stage)) {
                const RankId pair[] = {sender, on_stage(sender, call.peer)};
                group_of.push_back(add_group(slot, call, stage, sender, pair));
            }
        }
    } else {
        group_of.resize(grid_.ranks(), nowhere);
        const RankGroups& kind = kinds_.try_emplace(call.group, call.group, plan_.job.layout).first->second;
        const bool is_listed = group_of[index(on_stage(RankId{0}, stage))] != nowhere;  // by another call
        for (const RankId rank : is_listed ? std::vector<RankId>{} : grid_.slice("pipeline", stage)) {
            if (group_of[index(rank)] != nowhere) continue;
            const std::vector<RankId> members = kind.members(rank);
            const std::uint32_t group = add_group(slot, call, stage, members.front(), members);
            for (const RankId member : members) group_of[index(member)] = group;
        }
    }
    // Every family of the slot that is first met on this stage makes the call.
    const auto begin = family_ids_.lower_bound({slot, stage, 0, 0, false});
    const auto end = family_ids_.lower_bound({slot, stage + 1, 0, 0, false});
    for (auto family = begin; family != end; ++family) families_[family->second].calls.push_back(call);
}

std::uint32_t Families::add_group(std::uint32_t slot, const Call& call, std::uint32_t stage, RankId first,
                                  std::span<const RankId> members) {
    const GroupShape shape = shape_of(topology_, {members.begin(), members.end()});
    const auto [it, is_new] = family_ids_.try_emplace({slot, stage, shape.members, shape.nodes, shape.even},
                                                      static_cast<std::uint32_t>(families_.size()));
    if (is_new) {
        families_.emplace_back();
        families_.back().kind = call.group;
        families_.back().stage = stage;
        families_.back().size = shape.members;
    }
    const std::uint32_t group = groups();
    families_[it->second].groups.push_back(group);
    family_of_.push_back(it->second);
    first_.push_back(first);
    receiver_.push_back(call.peer);
    return group;
}

// A group inside a node is laid once for all nodes that are alike.
std::vector<Communicator> Families::lay(std::span<const std::uint32_t> groups, Order order) {
    const std::vector<RankId> first = members(groups.front());
    const bool moves = topology_.node_links > 0 && first.size() > 1 && shape_of(topology_, first).nodes == 1;
    std::vector<Communicator> communicators;
    std::vector<std::vector<RankId>> laid;  // members of each
    if (!moves) communicators.reserve(groups.size());
    for (const std::uint32_t group : groups) {
        std::vector<RankId> ranks = members(group);
        const auto same =
            moves ? std::ranges::find_if(laid, [&](const auto& other) { return is_moved(other, ranks); }) : laid.end();
        if (same != laid.end()) {
            communicators[static_cast<std::size_t>(same - laid.begin())].copies.push_back(nodes_between(*same, ranks));
            continue;
        }
        communicators.push_back(planner_.lay(ranks, order));
        if (moves) laid.push_back(std::move(ranks));
    }
    return communicators;
}

// By how many nodes the second of two groups on one node each lies behind the first.
std::int32_t Families::nodes_between(std::span<const RankId> from, std::span<const RankId> to) const {
    return static_cast<std::int32_t>(topology_.node_of(to.front())) -
           static_cast<std::int32_t>(topology_.node_of(from.front()));
}

// Whether the second is the first on another node.
bool Families::is_moved(std::span<const RankId> from, std::span<const RankId> to) const {
    return std::ranges::equal(
        from, to, {}, [this](RankId rank) { return topology_.local_of(rank); },
        [this](RankId rank) { return topology_.local_of(rank); });
}

GroupCosts Families::costs(std::vector<std::uint32_t> groups, GroupCosts* whole) {
    WEFT_CHECK(!groups.empty(), "a family without groups");
    const GroupShape shape = shape_of(topology_, members(groups.front()));
    return {topology_, library_, shape, [this, groups = std::move(groups)](Order order) { return lay(groups, order); },
            whole};
}

}  // namespace weft
