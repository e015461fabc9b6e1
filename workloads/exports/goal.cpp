// A simulated step as a GOAL schedule, as LogGOPSim and ATLAHS run them: computations, sends and receives. A collective
// is the messages of the algorithm that the library chose for it, round by round, on its group in the order of its
// members; what a switch would add up or copy is sent to and by the member in charge of it. Source of the form: spcl's
// Schedgen; T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language", ICPP 2009.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "topologies/channels.hpp"
#include "workloads/exports/export.hpp"
#include "workloads/recorded/replay.hpp"
#include "workloads/recorded/simulated_ranks.hpp"

namespace weft {
namespace {

// What a member of a group does in one round of an algorithm: messages in chunks of the whole.
struct MemberMessage {
    std::uint32_t peer = 0, chunks = 0;  // peer: a member
    bool sends = false;
};
using MemberRound = std::vector<MemberMessage>;
struct MessageSchedule {
    std::uint32_t chunks = 1;
    std::vector<std::vector<MemberRound>> members;  // those rounds in which it does something
};

MessageSchedule schedule_of(const Algorithm& algorithm, const GroupShape& shape) {
    MessageSchedule schedule{.chunks = algorithm.chunks(shape),
                             .members = std::vector<std::vector<MemberRound>>(shape.members)};
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> messages;  // of a round
    for (const Transfer& transfer : algorithm.transfers(shape))
        ++messages[{transfer.round, transfer.from, transfer.to}];
    std::vector<std::uint32_t> last(shape.members, ~0U);
    for (const auto& [message, chunks] : messages) {
        const auto [round, from, to] = message;
        for (const auto& [member, peer] : {std::pair(from, to), std::pair(to, from)}) {
            std::vector<MemberRound>& rounds = schedule.members[member];
            if (last[member] != round) rounds.emplace_back();
            last[member] = round;
            rounds.back().push_back({peer, chunks, member == from});
        }
    }
    return schedule;
}

struct ScheduleWriter {
    // Of a node: what waits for what it waits for, and what those that wait for it wait for.
    struct Labels {
        std::vector<std::uint32_t> first, last;
    };

    SimulatedRanks& step;
    std::span<const RankId> ranks;
    std::string text{};
    std::uint32_t next = 0;  // label
    std::uint64_t nodes = 0;
    std::vector<Labels> labels{};
    std::map<std::tuple<Collective, std::string, std::uint32_t, std::uint32_t, bool, std::uint32_t>, MessageSchedule>
        schedules{};

    std::string write() {
        text = fmt::format("num_ranks {}\n", ranks.size());
        for (const RankId rank : ranks) add(step.rank(rank));
        return std::move(text);
    }

    void add(const SimulatedRank& rank) {
        text += fmt::format("\nrank {} {{\n", index(rank.rank));
        next = 0;
        labels.assign(rank.record.nodes.size(), {});
        const RecordedRank& record = rank.record;
        for (std::size_t i = 0; i < record.nodes.size(); ++i) {
            add(rank, i);
            for (const NodeDependency on : record.dependencies_of(i)) require(labels[i].first, labels[on.node].last);
        }
        text += "}\n";
    }

    void add(const SimulatedRank& rank, std::size_t i) {
        const RecordedNode& node = rank.record.nodes[i];
        Labels& own = labels[i];
        const std::size_t core = index(step.lane(rank, i));  // each lane its own
        if (node.kind == RecordedKind::collective) return add_collective(rank, i, core);
        if (node.kind == RecordedKind::compute) {
            const std::int64_t from = nanoseconds(rank.spans[i].begin);
            own.first = {line(fmt::format("calc {} cpu {}", nanoseconds(rank.spans[i].end) - from, core))};
        } else {
            own.first = {message(node.kind == RecordedKind::send, node.bytes, node.partner, node.tag, core)};
        }
        own.last = own.first;
    }

    // Each round waits for the one before. An empty computation holds what follows together.
    void add_collective(const SimulatedRank& rank, std::size_t i, std::size_t core) {
        const RecordedNode& node = rank.record.nodes[i];
        const std::vector<std::uint32_t>& members = step.program().groups[node.partner];
        const MessageSchedule& schedule = schedule_for(rank, i, members);
        const auto own = static_cast<std::size_t>(std::ranges::find(members, index(rank.rank)) - members.begin());
        const Bytes whole = full_message(node.op, node.bytes, static_cast<std::uint32_t>(members.size()));
        std::vector<std::uint32_t> before;
        for (const MemberRound& round : schedule.members[own]) {
            std::vector<std::uint32_t> now;
            for (const MemberMessage& one : round) {
                const Bytes bytes = whole * (static_cast<double>(one.chunks) / schedule.chunks);
                now.push_back(message(one.sends, bytes, members[one.peer], tag_of(node), core));
            }
            if (before.empty()) labels[i].first = now;
            require(now, before);
            before = std::move(now);
        }
        if (before.empty()) labels[i].first = before = {line(fmt::format("calc 0 cpu {}", core))};
        labels[i].last = std::move(before);
    }

    // Messages between stages have their port.
    static std::uint32_t tag_of(const RecordedNode& collective) {
        constexpr std::uint32_t ports = 16;
        return ports + collective.partner;
    }

    const MessageSchedule& schedule_for(const SimulatedRank& rank, std::size_t i,
                                        const std::vector<std::uint32_t>& group) {
        const Program& program = step.run().step.program;
        const Communication& what = program.communications[program.communication_of(program.ops[rank.ops[i]])];
        const std::string& name = program.methods[what.method].algorithm;
        const auto members = list_of<RankId>(group, [](std::uint32_t member) { return RankId{member}; });
        const GroupShape shape = shape_of(step.run().topology(), members);
        const auto [known, is_new] =
            schedules.try_emplace({what.op, name, shape.members, shape.nodes, shape.even, shape.before_last});
        if (is_new) known->second = schedule_of(*find_algorithm(what.op, name), shape);
        return known->second;
    }

    std::uint32_t message(bool sends, Bytes bytes, std::uint32_t other, std::uint32_t tag, std::size_t core) {
        return line(fmt::format("{} {}b {} {} tag {} cpu {}", sends ? "send" : "recv", std::llround(bytes.value),
                                sends ? "to" : "from", other, tag, core));
    }

    std::uint32_t line(std::string_view what) {
        check_exported_nodes(++nodes);
        fmt::format_to(std::back_inserter(text), "l{}: {}\n", next, what);
        return next++;
    }

    void require(const std::vector<std::uint32_t>& waiting, const std::vector<std::uint32_t>& on) {
        for (const std::uint32_t label : waiting) {
            for (const std::uint32_t other : on) {
                fmt::format_to(std::back_inserter(text), "l{} requires l{}\n", label, other);
            }
        }
    }
};

void write_goal(SimulatedRanks& step, std::span<const RankId> ranks, const FileWriter& write) {
    if (ranks.size() != step.ranks()) refuse_file({}, "--ranks: a GOAL schedule is of all ranks");
    write("step.goal", ScheduleWriter{step, ranks}.write());
}

}  // namespace

namespace exports {

extern const ExportFormat goal{.name = "goal", .title = "GOAL schedule of a simulated step", .step = write_goal};

}  // namespace exports
}  // namespace weft
