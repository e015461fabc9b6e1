#include "tools/collective/jittered_call.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/cost/messages.hpp"

namespace weft {
namespace {

double messages_in_round(const Phase& phase, std::uint32_t members) {
    if (phase.peer == Peer::all) return members * (members - 1.0);
    double messages = 0.0;
    for_each_message(phase, members, [&](std::uint32_t, std::uint32_t, double) { ++messages; });
    return messages;
}

}  // namespace

JitteredCall jittered_call(CollectiveSet& set, const Topology& topology, const Choice& choice, Bytes message) {
    const SetLayout& layout = set.layout();
    const std::vector<Phase> phases =
        layout.members() < 2 ? std::vector<Phase>{} : choice.algorithm->phases(set.costs().shape());
    JitteredCall call;
    std::span<const Phase> left(phases);
    for (const PhaseCost& cost : set.costs().phases(choice)) {
        call.fixed += cost.launch;
        if (left.empty()) break;
        JitteredRounds stretch{.each = cost.latency(message) - cost.launch, .rounds = 0, .messages = 0.0};
        if (!is_unlimited(cost.pattern)) stretch.each += cost.bytes(message) / idle_rate(cost.pattern, topology);
        for (const Phase& phase : left.first(cost.phases)) {
            stretch.rounds += phase.repeat;
            stretch.messages = std::max(stretch.messages, messages_in_round(phase, layout.members()));
        }
        left = left.subspan(cost.phases);
        stretch.each = stretch.each / static_cast<double>(stretch.rounds);
        stretch.messages *= set.channels(choice) * layout.groups;
        call.rounds.push_back(stretch);
    }
    return call;
}

}  // namespace weft
