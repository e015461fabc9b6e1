#include "workloads/explain/explanation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/instant.hpp"
#include "workloads/plan/stage_memory.hpp"
#include "workloads/stage/stage_script.hpp"
#include "workloads/step/lanes.hpp"

namespace weft {
namespace {

// Hands out ticks of a piece until none are left, so that they sum to it whatever is rounded.
class Purse {
  public:
    Purse(std::int64_t ticks, std::vector<CauseTime>& causes) : left_(ticks), causes_(causes) {}

    void spend(std::int64_t ticks, Cause cause) {
        ticks = std::clamp<std::int64_t>(ticks, 0, left_);
        if (ticks == 0) return;
        left_ -= ticks;
        causes_.push_back({std::move(cause), ticks});
    }
    void spend_all(Cause cause) { spend(left_, std::move(cause)); }

  private:
    std::int64_t left_;
    std::vector<CauseTime>& causes_;
};

std::int64_t length(const PathPiece& piece) { return piece.end.femtoseconds - piece.begin.femtoseconds; }

void speed_up(AttentionCurve& curve, double factor) {
    curve.forward *= factor;
    curve.backward *= factor;
}

constexpr std::array limits{
    DeviceLimit{"matrix products", "matrix products",
                [](Device& device, double factor) {
                    device.gemm.plateau *= factor;
                    device.gemm_eighth.plateau *= factor;
                }},
    DeviceLimit{"fused attention", "fused attention",
                [](Device& device, double factor) {
                    speed_up(device.attention, factor);
                    speed_up(device.attention_cudnn, factor);
                    speed_up(device.attention_triton, factor);
                    speed_up(device.attention_eighth, factor);
                }},
    DeviceLimit{"bound by memory", "memory bandwidth",
                [](Device& device, double factor) { device.memory_bandwidth = device.memory_bandwidth * factor; }},
    DeviceLimit{"gaps between kernels", "gaps between kernels",
                [](Device& device, double factor) { device.kernel_launch = device.kernel_launch / factor; }},
    DeviceLimit{"waiting for the host", "host launches",
                [](Device& device, double factor) { device.host_launch = device.host_launch / factor; }},
};

bool do_the_same(const Script& a, const Script& b) {
    return std::ranges::equal(a.actions(), b.actions(), [](const Action& left, const Action& right) {
        return left.kind == right.kind && left.subject == right.subject && left.after == right.after;
    });
}

// By comparing the work of the step with that on a device of which one limit is a little higher: logarithmic
// derivatives.
std::vector<std::vector<float>> limit_shares(const Study& study, const Step& step, const OtherDevices& devices) {
    // Small enough that hardly any kernel changes the limit that it runs at, large enough for doubles.
    constexpr double step_of_limit = 1e-6;
    const std::vector<Seconds>& own = step.program.work;
    std::vector<std::vector<float>> all;
    Study higher = study;
    for (const DeviceLimit& limit : limits) {
        std::vector<float>& shares = all.emplace_back();
        higher.device = study.device;
        limit.speed_up(higher.device, 1.0 + step_of_limit);
        const std::optional<std::vector<Seconds>> work = devices.work(higher);
        if (!work) continue;
        shares.resize(own.size());
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (own[i].value <= 0.0) continue;
            const double faster = 1.0 - (*work)[i] / own[i];
            shares[i] = static_cast<float>(std::clamp(faster / step_of_limit * (1.0 + step_of_limit), 0.0, 1.0));
        }
    }
    return all;
}

}  // namespace

std::string cause_text(const Cause& cause) {
    std::string text = cause.dimension.empty() ? cause.name : cause.dimension + " " + cause.name;
    if (!cause.link.empty()) text += " over " + cause.link;
    return text;
}

PathCauses::PathCauses(const Study& study, const Simulation& run)
    : run_(run),
      program_(run.step.program),
      works_(program_),
      shares_(limit_shares(study, run.step, OtherDevices(run.plan, run.step))) {}

std::vector<CauseTime> PathCauses::of(const PathPiece& piece) const {
    const Op& op = program_.ops[piece.op];
    std::vector<CauseTime> causes;
    if (op.kind == OpKind::exchange) {
        add_communication(piece, op, causes);
    } else {
        add_computation(piece, op, causes);
    }
    return causes;
}

void PathCauses::add_computation(const PathPiece& piece, const Op& op, std::vector<CauseTime>& causes) const {
    Purse purse(length(piece), causes);
    const std::int64_t work = ticks(works_.of(piece.op, program_.class_of(piece.op)));
    purse.spend(length(piece) - work, {"interference", {}, {}});
    if (op.lane == lanes::store || op.lane == lanes::load) {
        return purse.spend_all({"copies", lanes::dimension_name(op.lane), {}});
    }
    if (program_.labels[index(op.label)] == "optimizer") return purse.spend_all({"optimizer", {}, {}});
    for (std::size_t limit = 0; limit < shares_.size(); ++limit) {
        if (shares_[limit].empty()) continue;
        purse.spend(std::llround(double{shares_[limit][op.subject]} * static_cast<double>(work)),
                    {std::string(device_limits()[limit].cause), {}, {}});
    }
    purse.spend_all({"other computation", {}, {}});
}

void PathCauses::add_communication(const PathPiece& piece, const Op& op, std::vector<CauseTime>& causes) const {
    const Communication& what = program_.communications[program_.communication_of(op)];
    const std::string dimension = lanes::dimension_name(what.dimension);
    Purse purse(length(piece), causes);
    std::int64_t latency = 0;
    for (const Leg& leg : program_.legs_of(what)) latency += ticks(leg.latency);
    purse.spend(latency, {"latency", dimension, {}});
    for (const Leg& leg : program_.legs_of(what)) {
        if (leg.bytes.value <= 0.0 || is_unlimited(program_.patterns[leg.pattern])) continue;
        const Bound bounding = bound(leg.pattern);
        purse.spend(ticks(leg.bytes / bounding.rate),
                    {"transfer", dimension, bounding.is_link ? run_.topology().link(bounding.link).name : "channels"});
    }
    purse.spend_all({"sharing", dimension, {}});
}

std::set<LinkClassId> PathCauses::crossed(OpId exchange) const {
    const Communication& what = program_.communications[program_.communication_of(program_.ops[exchange])];
    std::set<LinkClassId> classes;
    for (const Leg& leg : program_.legs_of(what)) {
        if (leg.bytes.value <= 0.0) continue;
        for (const LinkLoad& load : program_.patterns[leg.pattern].loads) {
            classes.insert(run_.topology().link_class(load.link));
        }
    }
    return classes;
}

PathCauses::Bound PathCauses::bound(PatternId pattern) const {
    const Pattern& what = program_.patterns[pattern];
    Bound bound{.rate = what.cap};
    for (const LinkLoad& load : what.loads) {
        const BytesPerSecond rate = run_.topology().link(load.link).bandwidth / load.load;
        if (rate.value < bound.rate.value) bound = {.rate = rate, .link = load.link, .is_link = true};
    }
    return bound;
}

std::span<const DeviceLimit> device_limits() { return limits; }

OtherDevices::OtherDevices(const Plan& plan, const Step& step) : plan_(plan), step_(step) {
    for (const WorkOrigin& origin : step.work_origins) {
        if (scripts_.contains(origin.stage)) continue;
        scripts_.emplace(origin.stage, step_script(plan, origin.stage, plan.job.step));
    }
}

std::optional<std::vector<Seconds>> OtherDevices::work(const Study& study) const {
    Plan changed = empty_plan(study);
    changed.job.layout = plan_.job.layout;  // layers stay where their costs put them
    changed.costs = part_costs(changed);
    changed.host_bound = plan_.host_bound || host_bound(changed);  // with the host's pace if it may matter
    changed.stages = plan_.stages;
    std::map<std::uint32_t, Script> scripts;
    for (const auto& [stage, script] : scripts_) {
        changed.stages[stage].optimizer = update_time(changed, changed.stages[stage]);
        const Script& other = scripts.emplace(stage, step_script(changed, stage, changed.job.step)).first->second;
        if (!do_the_same(script, other)) return std::nullopt;
    }
    std::vector<Seconds> work = step_.program.work;
    for (std::size_t i = 0; i < work.size(); ++i) {
        const auto [stage, number] = step_.work_origins[i];
        const Seconds own = scripts_.at(stage).work()[number], other = scripts.at(stage).work()[number];
        work[i] = own.value > 0.0 ? work[i] * (other / own) : other;
    }
    return work;
}

}  // namespace weft
