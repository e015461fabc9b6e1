#include "workloads/recorded/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "sim/network/link_traffic.hpp"
#include "workloads/groups/families.hpp"

namespace weft {
namespace {

// Who meets: a group, or two ranks.
constexpr std::uint64_t key_of_group(std::uint32_t group) { return std::uint64_t{1} << 63U | group; }
constexpr std::uint64_t key_of_pair(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32U | to; }

class MeetingCosts {
  public:
    MeetingCosts(const RecordedProgram& program, const Meetings& meetings, const Topology& topology,
                 const Library& library, Seconds host)
        : program_(program), meetings_(meetings), topology_(topology), library_(library), host_(host) {}

    RecordedCosts run() && {
        found_.call_of.reserve(meetings_.meetings.size());
        for (const Meeting& meeting : meetings_.meetings) {
            const std::uint32_t first = meetings_.of(meeting).front();
            const RecordedNode& node = meetings_.node(program_, first);
            found_.call_of.push_back(
                node.kind == RecordedKind::send
                    ? call(key_of_pair(meetings_.rank_of(first), node.partner), Collective::point_to_point, node.bytes)
                    : call(key_of_group(node.partner), node.op, node.bytes));
        }
        merge_equal_links(topology_, found_.patterns);
        return std::move(found_);
    }

  private:
    std::uint32_t call(std::uint64_t who, Collective op, Bytes bytes) {
        const auto [known, is_new] =
            known_.try_emplace({who, op, bytes}, static_cast<std::uint32_t>(found_.calls.size()));
        if (is_new) add(who, op, bytes);
        return known->second;
    }

    std::vector<RankId> ranks(std::uint64_t who) const {
        if (who >> 63U == 0)
            return {RankId(static_cast<std::uint32_t>(who >> 32U)), RankId(static_cast<std::uint32_t>(who))};
        return list_of<RankId>(program_.groups[static_cast<std::uint32_t>(who)],
                               [](std::uint32_t rank) { return RankId{rank}; });
    }

    void add(std::uint64_t who, Collective op, Bytes bytes) {
        std::vector<RankId> members = ranks(who);
        RecordedCall call{.op = op, .members = static_cast<std::uint32_t>(members.size())};
        call.message = full_message(op, bytes, call.members);
        call.first = static_cast<std::uint32_t>(found_.stretches.size());
        const bool is_alone = members.size() < 2 || (who >> 63U == 0 && members[0] == members[1]);
        if (!is_alone && call.message > Bytes{}) lay(call, who, std::move(members));
        found_.calls.push_back(std::move(call));
    }

    void lay(RecordedCall& call, std::uint64_t who, std::vector<RankId> members) {
        GroupCosts& costs = pool().find({.size = call.members, .ranks = std::move(members)});
        const Choice choice = costs.require(call.op, call.message);
        call.method = {choice.protocol->algorithm, choice.protocol->protocol, costs.channels(choice)};
        const std::vector<PhaseCost>& phases = costs.phases_unmoved(choice);
        const auto [first, is_new] = first_pattern_.try_emplace({who, choice}, found_.patterns.end_id());
        for (std::size_t i = 0; i < phases.size(); ++i) {
            if (is_new) found_.patterns.push_back(costs.pattern(choice, i));
            const auto pattern = PatternId(static_cast<std::uint32_t>(index(first->second) + i));
            const bool is_message = call.op == Collective::point_to_point;
            const Seconds latency = phases[i].latency(call.message) + (i == 0 && !is_message ? host_ : Seconds{});
            const Seconds before = is_message ? std::min(phases[i].launch, latency) : latency;
            call.flight += ticks(latency - before);
            found_.stretches.push_back({ticks(before), pattern, phases[i].bytes(call.message)});
        }
        call.stretches = static_cast<std::uint32_t>(phases.size());
    }

    // What it knows of groups may be forgotten: patterns are kept, and calls of one size.
    CostsPool& pool() {
        constexpr std::size_t most_known = 1U << 14U;
        if (!pool_ || ++asked_ % most_known == 0) {
            first_pattern_.clear();  // its choices point into the pool
            pool_ = std::make_unique<CostsPool>(topology_, library_);
        }
        return *pool_;
    }

    const RecordedProgram& program_;
    const Meetings& meetings_;
    const Topology& topology_;
    const Library& library_;
    const Seconds host_;
    std::unique_ptr<CostsPool> pool_;
    std::size_t asked_ = 0;
    std::map<std::tuple<std::uint64_t, Collective, Bytes>, std::uint32_t> known_;
    std::map<std::pair<std::uint64_t, Choice>, PatternId> first_pattern_;
    RecordedCosts found_;
};

}  // namespace

Bytes full_message(Collective op, Bytes put_in, std::uint32_t members) {
    return op == Collective::all_gather ? put_in * members : put_in;
}

RecordedCosts recorded_costs(const RecordedProgram& program, const Meetings& meetings, const Topology& topology,
                             const Library& library, Seconds host) {
    return MeetingCosts(program, meetings, topology, library, host).run();
}

void scale_computation(RecordedProgram& program, double factor) {
    for (RecordedRank& rank : program.ranks) {
        for (RecordedNode& node : rank.nodes) {
            if (node.kind == RecordedKind::compute) node.time *= factor;
        }
    }
}

void compute_on(RecordedProgram& program, const Device& device) {
    const FlopsPerSecond rate{device.peak(Precision::bf16).value * device.sustained_clock * device.gemm.plateau};
    std::size_t computations = 0, untold = 0;
    for (RecordedRank& rank : program.ranks) {
        for (RecordedNode& node : rank.nodes) {
            if (node.kind != RecordedKind::compute || rank.units[node.unit].is_host) continue;
            ++computations;
            if (node.flops == Flops{} && node.bytes == Bytes{}) {
                ++untold;
                continue;
            }
            const Seconds moved = node.bytes / (device.memory_bandwidth * device.memory_efficiency);
            node.time = device.kernel_launch + std::max(node.flops / rate, moved);
        }
    }
    if (untold == 0) return;
    program.notes.push_back(fmt::format(
        "{} of {} computations tell neither FLOPs nor bytes: they take as long as recorded", untold, computations));
}

}  // namespace weft
