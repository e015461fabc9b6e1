#include "workloads/recorded/kineto_trace.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "sim/io/diagnostics.hpp"
#include "tests/refusal.hpp"
#include "tests/workloads/recorded/kineto_text.hpp"

namespace weft {
namespace {

TEST(kineto_trace, times_are_exact_to_the_nanosecond_where_doubles_are_not) {
    const KinetoTrace trace = test::read_text_of(
        R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":9007199254740.991,"dur":0.001,"args":{"correlation":5}},
            {"ph":"X","cat":"kernel","name":"k","ts":9007199254740.992,"dur":1e0,"args":{}}]})");
    ASSERT_EQ(trace.kernels.size(), 2U);
    EXPECT_EQ(trace.kernels[0].begin, 9007199254740991);
    EXPECT_EQ(trace.kernels[0].end, 9007199254740992);
    EXPECT_EQ(trace.kernels[0].correlation, 5U);
    EXPECT_EQ(trace.kernels[0].name, trace.kernels[1].name);
}

TEST(kineto_trace, an_operation_has_its_shapes_and_sequence) {
    test::KinetoText text;
    text.host(
        "cpu_op", "aten::mm", 1, 3,
        R"("Sequence number":12,"Input Dims":[[8,4],[4,2],[]],"Input type":["c10::BFloat16","c10::BFloat16",""])");
    text.kernel("nvjet", 5, 2, 2);
    const KinetoTrace trace = test::read_text_of(text.text());
    ASSERT_EQ(trace.host.size(), 2U);
    EXPECT_EQ(trace.texts[trace.host[0].name], "aten::mm");
    EXPECT_EQ(trace.host[0].sequence, 12);
    EXPECT_EQ(dims_of(trace.texts[trace.host[0].dims]), (std::vector<std::vector<double>>{{8, 4}, {4, 2}, {}}));
    EXPECT_EQ(trace.device, "NVIDIA H100 80GB HBM3");
    EXPECT_EQ(trace.rank, 0);
    EXPECT_EQ(trace.ranks, 1);
}

TEST(kineto_trace, a_call_of_a_communication_library_says_what_it_carries) {
    test::KinetoText text;
    text.kernel("ncclDevKernel_AllGather_RING_LL", 5, 2, 2,
                R"("Collective name":"_allgather_base","In msg nelems":16,"Out msg nelems":128,"Group size":8,)"
                R"("dtype":"BFloat16","Process Group Name":"fsdp")");
    const KinetoTrace trace = test::read_text_of(text.text());
    ASSERT_EQ(trace.calls.size(), 1U);
    EXPECT_EQ(trace.texts[trace.calls[0].op], "_allgather_base");
    EXPECT_EQ(trace.calls[0].out, 128);
    EXPECT_EQ(trace.calls[0].ranks, 8U);
}

struct Wrong {
    std::string text, what;
};

TEST(kineto_trace, what_is_no_trace_is_refused_with_its_place) {
    test::KinetoText host_only;
    host_only.host("cpu_op", "aten::mm", 1, 3);
    const Wrong cases[] = {
        {"", "byte"},
        {"{\"traceEvents\":[", "byte"},
        {"{\"traceEvents\":[}", "byte 17"},
        {"{}", "no traceEvents"},
        {"[1, 2]", "no traceEvents"},
        {host_only.text(), "no kernel of a device"},
        {std::string(100, '['), "deep"},
    };
    for (const Wrong& wrong : cases) {
        const std::string refusal = test::refusal_of([&] { test::read_text_of(wrong.text); });
        EXPECT_NE(refusal.find(wrong.what), std::string::npos) << wrong.text << ": " << refusal;
        EXPECT_NE(refusal.find("trace.json"), std::string::npos) << refusal;
    }
    EXPECT_NE(test::refusal_of([] { read_kineto(std::filesystem::path("nowhere.json")); }).find("cannot be read"),
              std::string::npos);
    EXPECT_NE(test::refusal_of([] { read_kineto(std::filesystem::path("/")); }).find("directory"), std::string::npos);
}

}  // namespace
}  // namespace weft
