#include "workloads/explain/device_limit.hpp"

#include <algorithm>
#include <string>

#include "sim/base/check.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/stage/stage_script.hpp"

namespace weft {
namespace {

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

}  // namespace

std::span<const DeviceLimit> device_limits() { return limits; }

OtherDevices::OtherDevices(const Plan& plan, const Step& step) : plan_(plan), step_(step) {
    for (const WorkOrigin& origin : step.work_origins) {
        if (scripts_.contains(origin.stage)) continue;
        scripts_.emplace(origin.stage, step_script(plan, origin.stage, plan.job.step));
    }
}

std::optional<std::vector<Seconds>> OtherDevices::work(const Study& study) const {
    Plan changed = empty_plan(study);
    changed.costs = part_costs(changed);
    changed.host_bound = plan_.host_bound || host_bound(changed);  // with the host's pace if it may matter
    changed.stages = plan_.stages;
    std::string why;
    const std::vector<std::uint32_t> layers = plan_.job.part_layers(why);
    std::map<std::uint32_t, Script> scripts;
    for (const auto& [stage, script] : scripts_) {
        changed.stages[stage].optimizer = make_stage(changed, stage, layers).optimizer;
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

LimitShares::LimitShares(const Study& study, const Step& step, const OtherDevices& devices) {
    // Small enough that hardly any kernel changes the limit that it runs at, large enough for doubles.
    constexpr double step_of_limit = 1e-6;
    WEFT_CHECK(device_limits().size() == limits, "as many shares as a device has limits");
    const std::vector<Seconds>& own = step.program.work;
    Study higher = study;
    for (std::size_t limit = 0; limit < limits; ++limit) {
        higher.device = study.device;
        device_limits()[limit].speed_up(higher.device, 1.0 + step_of_limit);
        const std::optional<std::vector<Seconds>> work = devices.work(higher);
        if (!work) continue;
        std::vector<float>& shares = shares_[limit];
        shares.resize(own.size());
        for (std::size_t i = 0; i < own.size(); ++i) {
            if (own[i].value <= 0.0) continue;
            const double faster = 1.0 - (*work)[i] / own[i];
            shares[i] = static_cast<float>(std::clamp(faster / step_of_limit * (1.0 + step_of_limit), 0.0, 1.0));
        }
    }
}

std::array<double, LimitShares::limits> LimitShares::of(std::uint32_t number) const {
    std::array<double, limits> shares{};
    for (std::size_t limit = 0; limit < limits; ++limit) {
        if (!shares_[limit].empty()) shares[limit] = shares_[limit][number];
    }
    return shares;
}

}  // namespace weft
