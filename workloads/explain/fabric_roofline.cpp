#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sim/base/check.hpp"
#include "topologies/measurements/size_convention.hpp"
#include "workloads/explain/rooflines.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

// Alone, on links that carry what their data sheets say.
Seconds line_time(const Program& program, const Communication& what, const Topology& topology) {
    Seconds sum;
    for (std::uint32_t i = what.first_leg; i < what.first_leg + what.legs; ++i) {
        const Leg& leg = program.legs[i];
        BytesPerSecond rate{std::numeric_limits<double>::infinity()};
        for (const LinkLoad& load : program.patterns[leg.pattern].loads) {
            rate = std::min(rate, topology.link(load.link).nominal / load.load);
        }
        if (leg.bytes.value > 0.0) sum += leg.bytes / rate;
    }
    return sum;
}

RankClassId class_of_stage(const Step& step, std::uint32_t stage) {
    for (RankClassId id{}; id != step.stage.end_id(); id = next(id)) {
        if (step.stage[id] == stage) return id;
    }
    throw LogicError("a stage without a rank class");
}

struct Times {
    OpId one{};  // of them
    std::uint64_t calls = 0;
    std::int64_t ticks = 0;
};

// The link on which its bytes are longest, and what it takes, by cause.
FabricUse use_of(const Simulation& run, const PathCauses& causes, const Communication& what, const Times& times) {
    const auto calls = static_cast<double>(times.calls);
    FabricUse use{.dimension = lanes::dimension_name(what.dimension),
                  .link = "none",
                  .calls = times.calls,
                  .bytes = what.message * (bus_factor(what.op, what.group_size) * calls),
                  .time = since_start({times.ticks}),
                  .line = line_time(run.step.program, what, run.topology()) * calls};
    const Instant end{times.ticks / static_cast<std::int64_t>(times.calls)};
    std::int64_t most = 0;
    for (const CauseTime& part : causes.of({times.one, Instant{}, end})) {
        const Seconds time = since_start({part.ticks}) * calls;
        if (part.cause.name == "latency") {
            use.latency += time;
        } else if (part.cause.name == "sharing") {
            use.sharing += time;
        } else {
            (part.cause.link == "channels" ? use.endpoint : use.transfer) += time;
            if (part.ticks <= most) continue;
            most = part.ticks;
            use.link = part.cause.link;
        }
    }
    return use;
}

void add(const FabricUse& one, FabricUse& sum) {
    sum.calls += one.calls;
    sum.bytes += one.bytes;
    sum.time += one.time;
    sum.transfer += one.transfer;
    sum.endpoint += one.endpoint;
    sum.latency += one.latency;
    sum.sharing += one.sharing;
    sum.line += one.line;
}

}  // namespace

std::string_view FabricUse::bound() const {
    const double most = std::max({transfer.value, endpoint.value, latency.value, sharing.value});
    if (most == transfer.value) return "bandwidth";
    if (most == endpoint.value) return "endpoint";
    return most == latency.value ? "latency" : "sharing";
}

std::vector<FabricUse> fabric_roofline(const Simulation& run, const PathCauses& causes, std::uint32_t stage) {
    const Program& program = run.step.program;
    const RankClass& own = program.classes[class_of_stage(run.step, stage)];
    std::map<CommunicationId, Times> calls;
    for (OpId op{own.begin_op()}; index(op) < own.end_op(); op = next(op)) {
        if (program.ops[op].kind != OpKind::exchange) continue;
        Times& times = calls[program.communication_of(program.ops[op])];
        const Span& span = run.timeline.spans[op];
        times.one = op;
        ++times.calls;
        times.ticks += span.end.femtoseconds - span.begin.femtoseconds;
    }
    std::map<std::pair<std::string, std::string>, FabricUse> sums;
    for (const auto& [id, times] : calls) {
        FabricUse one = use_of(run, causes, program.communications[id], times);
        const auto [sum, fresh] = sums.try_emplace({one.dimension, one.link}, one);
        if (!fresh) add(one, sum->second);
    }
    std::vector<FabricUse> uses;
    for (auto& [key, use] : sums) uses.push_back(std::move(use));
    std::ranges::stable_sort(uses, std::ranges::greater{}, [](const FabricUse& use) { return use.time.value; });
    return uses;
}

}  // namespace weft
