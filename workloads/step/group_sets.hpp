// The groups that rank classes communicate in, laid on the topology, and the communications they hold. Equal groups
// do the same together, so they are one *group set*, whose traffic is added up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/cost/group_costs.hpp"
#include "sim/program/program_builder.hpp"
#include "workloads/folding/folding.hpp"
#include "workloads/groups/families.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {

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

}  // namespace weft
