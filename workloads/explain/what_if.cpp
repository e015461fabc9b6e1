#include "workloads/explain/explanation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

struct Speed {
    double factor;
    const char* text;
    bool slight;
};
constexpr Speed speeds[] = {{1.1, "10 % faster", true}, {2.0, "2x faster", false}};

void make_free(Program& program, std::string_view dimension) {
    for (const Communication& one : program.communications) {
        if (!dimension.empty() && lanes::dimension_name(one.dimension) != dimension) continue;
        for (Leg& leg : std::span(program.legs).subspan(one.first_leg, one.legs)) {
            leg.latency = {};
            leg.bytes = {};
        }
    }
}

void make_prompt(Program& program) {
    for (Leg& leg : program.legs) leg.latency = {};
}

// No stage waits for another: what they send each other neither takes time nor has to come.
void cut_pipeline(Program& program) {
    std::vector<bool> hands_over(program.communications.size());
    for (CommunicationId id{}; id != program.communications.end_id(); id = next(id)) {
        hands_over[index(id)] = lanes::dimension_name(program.communications[id].dimension) == "pipeline";
    }
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        const Op what = program.ops[op];
        if (what.kind == OpKind::exchange && hands_over[index(program.communication_of(what))]) {
            program.ops.shared(op).kind = OpKind::join;
        }
    }
}

// Whether the path spends on a cause with such a word.
bool spends_on(const Explanation& explanation, std::string_view text, std::string Cause::*word = &Cause::name) {
    return std::ranges::any_of(explanation.causes,
                               [&](const ExplainedCause& each) { return each.cause.*word == text; });
}

void add_limits(const Explanation& explanation, std::vector<WhatIf>& changes) {
    for (const DeviceLimit& limit : device_limits()) {
        if (!spends_on(explanation, limit.cause)) continue;
        for (const Speed& speed : speeds) {
            changes.push_back(
                {.knob = std::string(limit.knob),
                 .change = speed.text,
                 .device = [&limit, factor = speed.factor](Device& device) { limit.speed_up(device, factor); },
                 .slight = speed.slight});
        }
    }
}

// Traffic that shares links is held up by others than those that bound it alone.
void add_links(const ExplainedStep& step, const Explanation& explanation, std::vector<WhatIf>& changes) {
    const LinkClassTable& classes = step.run.topology().classes;
    for (LinkClassId id{}; id != classes.end_id(); id = next(id)) {
        if (step.run.timeline.utilization[id] <= 0.0) continue;
        if (!spends_on(explanation, classes[id].name, &Cause::link) && explanation.shared[id] == 0) continue;
        for (const Speed& speed : speeds) {
            changes.push_back({.knob = classes[id].name,
                               .change = speed.text,
                               .links =
                                   [id, factor = speed.factor](LinkClassTable& links) {
                                       links[id].bandwidth *= factor;
                                       links[id].nominal *= factor;
                                   },
                               .slight = speed.slight});
        }
    }
    if (!spends_on(explanation, "latency")) return;
    changes.push_back({.knob = "latency of calls", .change = "none", .program = make_prompt});
}

void add_communication(const Explanation& explanation, std::vector<WhatIf>& changes) {
    std::set<std::string> dimensions;
    for (const auto& [cause, ticks, elsewhere] : explanation.causes) {
        if (cause.name != "copies" && !cause.dimension.empty()) dimensions.insert(cause.dimension);
    }
    for (const std::string& dimension : dimensions) {
        changes.push_back({.knob = dimension + " communication",
                           .change = "takes no time",
                           .program = [dimension](Program& program) { make_free(program, dimension); }});
    }
    if (dimensions.size() < 2) return;
    changes.push_back({.knob = "all communication", .change = "takes no time", .program = [](Program& program) {
                           make_free(program, {});
                       }});
}

void add_rest(const Study& study, const Explanation& explanation, std::vector<WhatIf>& changes) {
    const Job& job = study.job;
    const auto add_if = [&](bool applies, std::string knob, std::string change, void (*apply)(Study&)) {
        if (applies) changes.push_back({.knob = std::move(knob), .change = std::move(change), .study = apply});
    };
    if (job.layout.pipeline > 1 && spends_on(explanation, "pipeline", &Cause::dimension)) {
        changes.push_back({.knob = "pipeline bubble", .change = "no stage waits for another", .program = cut_pipeline});
    }
    add_if(job.recompute.granularity != Recompute::none, "recomputation", "none, memory aside",
           [](Study& s) { s.job.recompute = Recompute::none; });
    if (spends_on(explanation, "interference")) {
        changes.push_back({.knob = "interference", .change = "none", .program = [](Program& program) {
                               program.interference = 1.0;
                           }});
    }
    add_if(job.experts.imbalance > 1.0, "expert imbalance", "none", [](Study& s) {
        s.job.experts.imbalance = 1.0;
        s.job.experts.by_layer.clear();
    });
    add_if(job.packing.slowest > 1.0, "documents of different lengths", "attention spread evenly",
           [](Study& s) { s.job.packing.slowest = s.job.packing.windowed_slowest = 1.0; });
    add_if(!job.faults.slow.empty() || has_jitter(job.faults), "faults of accelerators", "none",
           [](Study& s) { s.job.faults = {.slow = {}, .jitter = {}, .spread = 1}; });
    add_if(!job.fabric.link_faults.empty(), "faults of links", "none",
           [](Study& s) { s.job.fabric.link_faults.clear(); });
    add_if(!job.fabric.background.empty(), "traffic of other jobs", "none",
           [](Study& s) { s.job.fabric.background.clear(); });
    add_if(study.device.slow_share > 0.0 && job.faults.spread > 0.0, "slow chips", "none",
           [](Study& s) { s.device.slow_share = 0.0; });
}

constexpr std::int64_t all_of_it = std::numeric_limits<std::int64_t>::min() / 2;

// Of a communication alone on links of these classes.
std::int64_t transfer(const Program& program, const Communication& what, const Topology& topology,
                      const LinkClassTable& links) {
    std::int64_t sum = 0;
    for (const Leg& leg : program.legs_of(what)) {
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

// All of it together.
Leg whole(const Program& program, const Communication& what) {
    Leg sum{};
    for (const Leg& leg : program.legs_of(what)) {
        sum.latency += leg.latency;
        sum.bytes += leg.bytes;
    }
    return sum;
}

}  // namespace

std::vector<WhatIf> what_ifs(const Study& study, const ExplainedStep& step, const Explanation& explanation) {
    std::vector<WhatIf> changes;
    add_limits(explanation, changes);
    add_links(step, explanation, changes);
    add_communication(explanation, changes);
    add_rest(study, explanation, changes);
    return changes;
}

Seconds simulate_what_if(const WhatIf& change, const Study& study, const Step& step, const OtherDevices& devices,
                         const SimulationOptions& options, PreparedTopology& prepared) {
    const auto length = [&](const Program& program, const Topology& topology) {
        return since_start(simulate(program, topology, options.network).end);
    };
    if (change.links) {
        Topology topology = study.machine.topology(study.job.nodes, study.job.fabric);
        change.links(topology.classes);
        return length(step.program, topology);
    }
    if (change.program) {
        Program program = step.program;
        change.program(program);
        return length(program, prepared.topology());
    }
    Study changed = study;
    if (change.study) change.study(changed);
    if (change.device) {
        change.device(changed.device);
        if (std::optional<std::vector<Seconds>> work = devices.work(changed)) {
            Program program = step.program;
            program.work = *std::move(work);
            return length(program, prepared.topology());
        }
    }
    std::unique_ptr<PreparedTopology> own;
    if (!(changed.job.fabric == study.job.fabric)) own = prepare(changed);
    PreparedTopology& used = own ? *own : prepared;
    const Plan plan = make_plan(changed);
    return length(build_step(plan, used.costs(plan), {.folding = options.folding}).program, used.topology());
}

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
    return list_of<std::int64_t>(program.communications, [&](const Communication& what) {
        return transfer(program, what, topology, links) - transfer(program, what, topology, topology.classes);
    });
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
        const Leg own = whole(program, program.communications[id]), other = whole(changed, program.communications[id]);
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
    return since_start({sum_of<std::int64_t>(explanation_.path,
                                             [&](const PathPiece& piece) { return replay_.length(piece.op, times); })});
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
