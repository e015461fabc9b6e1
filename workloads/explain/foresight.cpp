#include "workloads/explain/what_if.hpp"

#include <algorithm>
#include <limits>

#include "sim/base/instant.hpp"

namespace weft {
namespace {

constexpr std::int64_t all_of_it = std::numeric_limits<std::int64_t>::min() / 2;

// Of a communication alone on links of these classes.
std::int64_t transfer(const Program& program, const Communication& what, const Topology& topology,
                      const LinkClassTable& links) {
    std::int64_t sum = 0;
    for (std::uint32_t i = what.first_leg; i < what.first_leg + what.legs; ++i) {
        const Leg& leg = program.legs[i];
        const Pattern& pattern = program.patterns[leg.pattern];
        if (leg.bytes.value <= 0.0 || is_unlimited(pattern)) continue;
        BytesPerSecond rate = pattern.cap;
        for (const LinkLoad& load : pattern.loads) {
            rate = std::min(rate, links[topology.link_class(load.link)].bandwidth / load.load);
        }
        sum += ticks(leg.bytes / rate);
    }
    return sum;
}

struct Legs {
    Seconds latency;
    Bytes bytes;
};

Legs legs_of(const Program& program, const Communication& what) {
    Legs sum;
    for (std::uint32_t leg = what.first_leg; leg < what.first_leg + what.legs; ++leg) {
        sum.latency += program.legs[leg].latency;
        sum.bytes += program.legs[leg].bytes;
    }
    return sum;
}

}  // namespace

Foresight::Foresight(const Study& study, const ExplainedStep& step, const OtherDevices& devices,
                     const Explanation& explanation)
    : study_(study),
      step_(step),
      devices_(devices),
      explanation_(explanation),
      replay_(step.run.step.program, step.run.timeline) {}

std::optional<OtherTimes> Foresight::times(const WhatIf& change) const {
    if (change.study) return std::nullopt;
    if (change.links) {
        LinkClassTable links = step_.run.topology().classes;
        change.links(links);
        return OtherTimes{.work = {}, .communications = longer_transfers(links)};
    }
    if (change.program) return program_times(change);
    Study changed = study_;
    change.device(changed.device);
    const std::optional<std::vector<Seconds>> work = devices_.work(changed);
    if (!work) return std::nullopt;
    OtherTimes times;
    for (std::size_t i = 0; i < work->size(); ++i) {
        times.work.push_back(ticks((*work)[i]) - ticks(step_.run.step.program.work[i]));
    }
    return times;
}

std::vector<std::int64_t> Foresight::longer_transfers(const LinkClassTable& links) const {
    const Program& program = step_.run.step.program;
    const Topology& topology = step_.run.topology();
    std::vector<std::int64_t> longer;
    for (const Communication& what : program.communications) {
        longer.push_back(transfer(program, what, topology, links) -
                         transfer(program, what, topology, topology.classes));
    }
    return longer;
}

// Of calls that carry nothing any more, nothing is left; of others, their latency is what can change.
OtherTimes Foresight::program_times(const WhatIf& change) const {
    const Program& program = step_.folded.program;
    Program changed = program;
    change.program(changed);
    OtherTimes times;
    bool is_silent = true;
    times.dropped.resize(program.communications.size());
    for (CommunicationId id{}; id != program.communications.end_id(); id = next(id)) {
        const Legs own = legs_of(program, program.communications[id]),
                   other = legs_of(changed, program.communications[id]);
        const bool has_nothing = other.bytes.value <= 0.0 && other.latency.value <= 0.0;
        is_silent &= has_nothing;
        times.communications.push_back(has_nothing ? all_of_it : ticks(other.latency) - ticks(own.latency));
    }
    times.undisturbed = is_silent || changed.interference <= 1.0;
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        const Op& own = program.ops[op];
        if (own.kind != changed.ops[op].kind) times.dropped[index(program.communication_of(own))] = true;
    }
    return times;
}

Seconds Foresight::first_order(const OtherTimes& times) const {
    std::int64_t sum = 0;
    for (const PathPiece& piece : explanation_.path) sum += replay_.length(piece.op, times);
    return since_start({sum});
}

Seconds Foresight::replayed(const OtherTimes& times) const { return since_start(replay_.end(times)); }

Seconds Foresight::undecided(const WhatIf& change) const {
    if (!change.links) return {};
    LinkClassTable links = step_.run.topology().classes;
    change.links(links);
    Seconds most;
    for (LinkClassId id{}; id != links.end_id(); id = next(id)) {
        const double left = step_.run.topology().classes[id].bandwidth / links[id].bandwidth;
        most += since_start({explanation_.shared[id]}) * (1.0 - left);
    }
    return most;
}

}  // namespace weft
