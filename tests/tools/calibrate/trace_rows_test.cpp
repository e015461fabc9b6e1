#include "tools/calibrate/device_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/exports/export.hpp"
#include "workloads/recorded/simulated_ranks.hpp"

namespace weft {
namespace {

Study of_gpus(std::uint32_t count) {
    return read_study(Document::parse("job.json", R"({"machine": {"extends": "dgx-h100", "nodes": 1},
        "layout": {"data": )" + std::to_string(count) +
                                                      R"(},
        "batch": {"sequence": 8192, "micro": 1, "global": )" +
                                                      std::to_string(count) + R"(},
        "model": {"layers": 4, "hidden": 4096, "heads": 32, "kv_heads": 8, "vocabulary": 32000, "ffn_hidden": 14336,
                  "gated": true, "norm": "rms_norm", "biases": false},
        "attention": "cudnn", "precision": "bf16", "modules": "plain", "framework": "fsdp",
        "fsdp": {"version": 2, "reduce_precision": "fp32"}})"));
}
Study one_gpu() { return of_gpus(1); }

// The step that a rank with `device` would take, exported as the profiler records it, beside the job's own; each row
// off by up to `noise`.
StepComparison recorded_on(const Device& device, const Study& study, double noise) {
    Study other = study;
    other.device = device;
    const Simulation made = simulate_step(other, make_plan(other));
    SimulatedRanks ranks(made);
    std::string trace;
    const std::vector<RankId> first{RankId{}};
    find_export("kineto").step(ranks, first, [&](const std::string&, std::string_view text) { trace = text; });
    StepComparison found =
        compare_step(read_kineto(ByteSource("made.json", trace)), simulate_step(study, make_plan(study)));
    int row = 0;
    for (ComparedWork& one : found.classes) {
        const double off = 1.0 + noise * (row++ % 3 - 1);
        one.femtoseconds[0] = std::llround(off * static_cast<double>(one.femtoseconds[0]));
    }
    return found;
}

void expect_found_again(double noise, double within) {
    const Study study = one_gpu();
    Device made = study.device;
    made.gemm.plateau = 0.7;
    made.attention_cudnn.forward = 0.8;
    made.attention_cudnn.backward = 0.6;
    made.kernel_launch = 2_us;
    for (const PassClass pass : {PassClass::element_wise, PassClass::softmax, PassClass::optimizer}) {
        made.pass_efficiency[static_cast<std::size_t>(pass)] *= 0.8;
    }
    std::vector<DeviceConstant> constants = device_constants(study.device);
    std::erase_if(constants, [&](const DeviceConstant& each) { return !is_told_by_steps(each, study); });
    const DeviceFit fit =
        fit_device(study.device, constants, {trace_source(study, recorded_on(made, study, noise))}, 1);
    int found = 0;
    for (std::size_t i = 0; i < fit.constants.size(); ++i) {
        if (fit.fit.determinations[i] != Determination::determined) continue;
        const double truth = fit.constants[i].value(made);
        EXPECT_NEAR(fit.fit.values[i], truth, within * truth) << fit.constants[i].name;
        ++found;
    }
    EXPECT_GE(found, 6);
}

TEST(trace_rows, a_device_is_found_again_by_what_it_was_recorded_to_take) { expect_found_again(0.0, 1e-3); }
TEST(trace_rows, noise_of_three_percent_moves_constants_by_less_than_five) { expect_found_again(0.03, 0.05); }

// Products and attention without what communication beside them takes, which is found, too.
TEST(trace_rows, what_communication_slows_is_found_again) {
    const Study study = of_gpus(8);
    Device made = study.device;
    made.gemm.plateau = 0.7;
    made.interference = 1.25;
    std::vector<DeviceConstant> constants = device_constants(study.device);
    std::erase_if(constants, [&](const DeviceConstant& each) { return !is_told_by_steps(each, study); });
    const DeviceFit fit = fit_device(study.device, constants, {trace_source(study, recorded_on(made, study, 0.0))}, 1);
    for (const std::string_view name : {"interference", "gemm_plateau"}) {
        const auto at = std::ranges::find(fit.constants, name, &DeviceConstant::name) - fit.constants.begin();
        const double truth = fit.constants[static_cast<std::size_t>(at)].value(made);
        EXPECT_NEAR(fit.fit.values[static_cast<std::size_t>(at)], truth, 0.02 * truth) << name;
    }
}

TEST(trace_rows, what_no_step_tells_is_left_alone) {
    const Study study = one_gpu();
    std::vector<DeviceConstant> constants = device_constants(study.device);
    std::erase_if(constants, [&](const DeviceConstant& each) { return !is_told_by_steps(each, study); });
    const DeviceFit fit =
        fit_device(study.device, constants, {trace_source(study, recorded_on(study.device, study, 0.0))}, 1);
    for (std::size_t i = 0; i < fit.constants.size(); ++i) {
        const std::string& name = fit.constants[i].name;
        if (name == "interference" || name == "host_launch" || name == "pass_broadcast") {
            EXPECT_EQ(fit.fit.determinations[i], Determination::without_effect) << name;
            EXPECT_EQ(fit.fit.values[i], fit.before[i]) << name;
        }
    }
}

}  // namespace
}  // namespace weft
