#include "workloads/recorded/recorded_step.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/workloads/recorded/kineto_text.hpp"

namespace weft {
namespace {

std::int64_t exposed(const RecordedStep& step) {
    std::int64_t sum = 0;
    for (const RecordedKernel& kernel : step.kernels) sum += kernel.exposed;
    return sum;
}

TEST(recorded_step, gaps_have_their_causes_and_all_adds_up) {
    test::KinetoText text;
    text.host("cpu_op", "aten::add", 0, 1);
    text.kernel("elementwise", 10, 5, 4);  // late: 4 us until it is launched, 6 until it begins
    text.kernel("elementwise", 16, 4, 5);  // 1 us between
    text.host("cuda_runtime", "cudaStreamSynchronize", 15, 6);
    text.kernel("elementwise", 25, 5, 23);                         // the host had waited
    text.kernel("ncclDevKernel_AllReduce", 28, 6, 24, {}, 1, 20);  // 2 us under computation, 4 in the open
    text.kernel("elementwise", 36, 4, 35);                         // 1 us late
    const KinetoTrace trace = test::read_text_of(text.text());
    const RecordedStep step = recorded_step(trace, 1);
    EXPECT_EQ(step.duration(), 40'000);
    EXPECT_EQ(step.gaps.host, 4'000 + 1'000);
    EXPECT_EQ(step.gaps.between, 6'000 + 1'000 + 2'000 + 1'000);
    EXPECT_EQ(step.gaps.synchronisation, 3'000);
    EXPECT_EQ(exposed(step) + step.gaps.sum(), step.duration());
    EXPECT_EQ(step.kernels[3].what, WorkClass::communication);
    EXPECT_EQ(step.kernels[3].exposed, 4'000);
}

TEST(recorded_step, of_several_steps_the_median_one_counts) {
    test::KinetoText text;
    const double begins[] = {0, 100, 300}, lengths[] = {80, 190, 90};
    for (int i = 0; i < 3; ++i) {
        text.host("user_annotation", fmt::format("ProfilerStep#{}", i + 7), begins[i], lengths[i]);
        text.kernel("elementwise", begins[i] + 10, lengths[i], begins[i] + 5);
    }
    const RecordedStep step = recorded_step(test::read_text_of(text.text()), 1);
    EXPECT_EQ(step.steps, 3U);
    EXPECT_EQ(step.name, "ProfilerStep#9");
    EXPECT_EQ(step.kernels.size(), 1U);
    EXPECT_EQ(step.begin, 300'000);  // the one before ended on the device at 300
    EXPECT_EQ(step.end, 400'000);
}

// Two layers of norm, attention and product, with an embedding before and a product behind; backward by the numbers of
// autograd, on a thread of its own.
KinetoTrace two_layers() {
    test::KinetoText text;
    double at = 0;
    int sequence = 0;
    const auto forward = [&](const std::string& operation, const std::string& kernel) {
        text.host("cpu_op", operation, at, 2, fmt::format(R"("Sequence number":{})", sequence++));
        text.kernel(kernel, at + 2, 1, at + 1);
        at += 4;
    };
    forward("aten::embedding", "gather");
    for (int layer = 0; layer < 2; ++layer) {
        forward("aten::rms_norm", "rms_norm");
        forward("aten::scaled_dot_product_attention", "flash_fwd");
        forward("aten::mm", "nvjet");
    }
    forward("aten::linear", "nvjet");
    for (int i = sequence - 1; i >= 0; --i) {
        text.host("cpu_op", "autograd::engine::evaluate_function: Backward", at, 3,
                  fmt::format(R"("Sequence number":{})", i), 2);
        text.kernel("elementwise", at + 2, 1, at + 1, {}, 2);
        at += 4;
    }
    text.host("user_annotation", "Optimizer.step#AdamW.step", at, 4);
    text.kernel("multi_tensor_apply", at + 2, 1, at + 1);
    return test::read_text_of(text.text());
}

TEST(recorded_step, layers_are_found_by_their_cores_and_backward_by_its_forward) {
    const KinetoTrace trace = two_layers();
    const RecordedStep step = recorded_step(trace, 2);
    std::map<std::pair<WorkPass, std::int32_t>, int> counts;
    for (const RecordedKernel& kernel : step.kernels) ++counts[{kernel.pass, kernel.layer}];
    const std::map<std::pair<WorkPass, std::int32_t>, int> expected{
        {{WorkPass::forward, no_layer}, 2},  {{WorkPass::forward, 0}, 3},  {{WorkPass::forward, 1}, 3},
        {{WorkPass::backward, no_layer}, 2}, {{WorkPass::backward, 0}, 3}, {{WorkPass::backward, 1}, 3},
        {{WorkPass::optimizer, no_layer}, 1}};
    EXPECT_EQ(counts, expected);
    EXPECT_EQ(exposed(step) + step.gaps.sum(), step.duration());
}

TEST(work_class, kernels_are_told_by_what_launched_them) {
    struct Case {
        Launched launched;
        WorkClass what;
    };
    const Case cases[] = {
        {{.kernel = "nvjet_sm90_tst", .operation = "aten::mm", .dims = {}}, WorkClass::other_products},
        {{.kernel = "Cijk_Ailk_Bljk", .operation = {}, .dims = {}}, WorkClass::other_products},
        {{.kernel = "cudnn_generated_fort_native_sdpa_sm90", .operation = {}, .dims = {}}, WorkClass::attention},
        {{.kernel = "ncclDevKernel_ReduceScatter", .operation = {}, .dims = {}}, WorkClass::communication},
        {{.kernel = "triton_poi_fused_silu", .operation = {}, .dims = {}}, WorkClass::fused},
        {{.kernel = "void at::native::vectorized_elementwise_kernel<8>", .operation = "aten::mul", .dims = {}},
         WorkClass::element_wise},
        {{.kernel = "void at::native::elementwise_kernel<128>", .operation = "aten::mul", .dims = "[[16,8],[16,1]]"},
         WorkClass::broadcast},
        {{.kernel = "void at::native::unrolled_elementwise_kernel", .operation = "aten::copy_", .dims = {}},
         WorkClass::strided},
        {{.kernel = "Memcpy HtoD (Pageable -> Device)", .operation = {}, .dims = {}, .is_copy = true},
         WorkClass::host_copies},
        {{.kernel = "somebody's own", .operation = {}, .dims = {}}, WorkClass::other},
    };
    for (const Case& each : cases) EXPECT_EQ(work_class(each.launched), each.what) << each.launched.kernel;
}

}  // namespace
}  // namespace weft
