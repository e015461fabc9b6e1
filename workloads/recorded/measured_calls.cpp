#include "workloads/recorded/measured_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <utility>

#include "workloads/recorded/replay.hpp"

namespace weft {
namespace {

// Ranks of a group, on nodes.
struct GroupPlace {
    std::uint32_t nodes = 0;
    std::string fault{};  // why its calls tell nothing; empty: they do
};

GroupPlace place_of(const std::vector<std::uint32_t>& ranks, const MachineInfo& machine) {
    if (ranks.empty()) return {0, "a group that nobody defines"};
    const std::uint32_t per_node = machine.accelerators_per_node;
    std::map<std::uint32_t, std::uint32_t> on_node;
    for (const std::uint32_t rank : ranks) ++on_node[rank / per_node];
    const std::uint32_t on_first = on_node.begin()->second;
    const auto nodes = static_cast<std::uint32_t>(on_node.size());
    if (std::ranges::any_of(on_node, [&](const auto& node) { return node.second != on_first; })) {
        return {nodes, fmt::format("{} ranks that do not fill their nodes of {} evenly", ranks.size(), per_node)};
    }
    const bool has_own_nics = on_first == per_node || (on_first == 1 && machine.nics_per_node >= per_node);
    if (nodes == 1 || has_own_nics) return {nodes, {}};
    return {nodes, fmt::format("{} of the {} ranks of each of {} nodes, which share its NICs with others", on_first,
                               per_node, nodes)};
}

// One call of a group: the files of how many of its ranks have it, and how long it took on the one that waited least.
struct MetCall {
    const RecordedNode* node = nullptr;
    std::size_t parties = 0;
    Seconds least{};
    bool differs = false;  // among ranks: in its operation or size
};

struct CallKey {
    Collective op{};
    std::uint32_t ranks = 0, nodes = 0;
    Bytes size{};

    auto operator<=>(const CallKey&) const = default;
};

struct CallTimes {
    std::vector<Seconds> complete{}, incomplete{};
};

// Of each group, in the order in which its ranks make them.
std::map<std::uint32_t, std::vector<MetCall>> calls_of_groups(const RecordedProgram& program) {
    std::map<std::uint32_t, std::vector<MetCall>> groups;
    for (const RecordedRank& rank : program.ranks) {
        std::map<std::uint32_t, std::size_t> made;
        for (const RecordedNode& node : rank.nodes) {
            if (node.kind != RecordedKind::collective || node.time <= Seconds{}) continue;
            std::vector<MetCall>& calls = groups[node.partner];
            const std::size_t at = made[node.partner]++;
            if (at == calls.size()) calls.push_back({.node = &node, .least = node.time});
            MetCall& call = calls[at];
            ++call.parties;
            call.least = std::min(call.least, node.time);
            // Of an all-to-all each rank may give away another number of tokens.
            call.differs |=
                call.node->op != node.op || (call.node->bytes != node.bytes && node.op != Collective::all_to_all);
        }
    }
    return groups;
}

Seconds median(std::vector<Seconds> times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
}

}  // namespace

MeasuredCalls measured_calls(const RecordedProgram& program, const MachineInfo& machine) {
    MeasuredCalls found;
    std::map<CallKey, CallTimes> rows;
    for (const auto& [group, calls] : calls_of_groups(program)) {
        const std::vector<std::uint32_t>& ranks = program.groups[group];
        GroupPlace place = place_of(ranks, machine);
        if (std::ranges::any_of(calls, &MetCall::differs)) place.fault = "ranks that do not make the same calls";
        if (!place.fault.empty()) {
            if (std::ranges::count(found.skipped, place.fault) == 0) found.skipped.push_back(std::move(place.fault));
            continue;
        }
        const auto members = static_cast<std::uint32_t>(ranks.size());
        for (const MetCall& call : calls) {
            const Bytes size = full_message(call.node->op, call.node->bytes, members);
            if (members < 2 || size <= Bytes{}) continue;
            CallTimes& times = rows[{call.node->op, members, place.nodes, size}];
            (call.parties == members ? times.complete : times.incomplete).push_back(call.least);
        }
    }
    for (auto& [key, times] : rows) {
        found.incomplete += times.complete.empty() ? 1 : 0;
        const Seconds time =
            times.complete.empty() ? *std::ranges::min_element(times.incomplete) : median(std::move(times.complete));
        found.rows.push_back({.op = key.op, .ranks = key.ranks, .nodes = key.nodes, .size = key.size, .time = time});
    }
    return found;
}

}  // namespace weft
