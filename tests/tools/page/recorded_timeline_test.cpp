// A recorded step as the script of timelines reads it.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "tests/workloads/recorded/kineto_text.hpp"
#include "tools/page/timeline.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// Computation of which two kernels overlap on stream 7, and a call on stream 20.
KinetoTrace small_trace() {
    test::KinetoText text;
    text.host("cpu_op", "aten::add", 0, 1);
    text.kernel("one", 10, 5, 0.25);
    text.kernel("two", 14, 4, 5);
    text.kernel("ncclDevKernel_AllReduce", 16, 6, 6,
                R"("Collective name":"allreduce","In msg nelems":1024,"Out msg nelems":1024,"Group size":8,)"
                R"("dtype":"BFloat16")",
                1, 20);
    text.kernel("one", 20, 10, 7);
    return test::read_text_of(text.text());
}

StepComparison compared(const KinetoTrace& trace) {
    StepComparison found;
    found.recorded = recorded_step(trace, 1);
    return found;
}

struct Slice {
    std::string lane, label;
    std::int64_t begin, length;
    bool operator==(const Slice&) const = default;
};

std::vector<Slice> slices_of(const Json& timeline, const std::string& lanes) {
    std::vector<Slice> slices;
    for (const Json& lane : timeline["stages"][0]["lanes"]) {
        const std::string name = lane["name"];
        std::int64_t at = 0;
        for (std::size_t i = 0; i < lane["gap"].size(); ++i) {
            at += lane["gap"][i].get<std::int64_t>();
            const auto length = lane["length"][i].get<std::int64_t>();
            const Json& label = timeline["labels"][lane["label"][i].get<std::size_t>()];
            if (name.starts_with(lanes)) slices.push_back({name, label[0], at, length});
            at += length;
        }
    }
    return slices;
}

TEST(recorded_timeline, has_every_kernel_where_it_was_and_what_overlaps_apart) {
    const KinetoTrace trace = small_trace();
    const Json timeline = recorded_timeline(trace, compared(trace), 100);
    EXPECT_EQ(slices_of(timeline, "stream"),
              (std::vector<Slice>{{"stream 7", "one", 10'000, 5'000},
                                  {"stream 7", "one", 20'000, 10'000},
                                  {"stream 7", "two", 14'000, 4'000},
                                  {"stream 20", "ncclDevKernel_AllReduce", 16'000, 6'000}}));
    EXPECT_EQ(timeline["until"], 30'000);
    EXPECT_EQ(timeline["left_out"], 0);
    EXPECT_EQ(
        timeline["labels"][0],
        Json::parse(R"(["one", "forward", [["class", "other"], ["pass", "forward"], ["launched by", "aten::add"]]])"));
}

TEST(recorded_timeline, of_more_kernels_than_a_page_holds_the_first_are_shown_and_the_rest_counted) {
    const KinetoTrace trace = small_trace();
    const Json timeline = recorded_timeline(trace, compared(trace), 2);
    EXPECT_EQ(slices_of(timeline, "stream").size(), 2U);
    EXPECT_EQ(timeline["left_out"], 2);
    EXPECT_EQ(timeline["until"], 16'000);
}

TEST(recorded_timeline, calls_are_of_the_dimension_in_which_the_simulation_has_such) {
    const KinetoTrace trace = small_trace();
    StepComparison found = compared(trace);
    const auto dimension = [&] {
        return recorded_timeline(trace, found, 100)["stages"][0]["lanes"][3]["dimension"].get<std::string>();
    };
    EXPECT_EQ(dimension(), "communication");
    found.calls = {{.op = "all-reduce", .ranks = 4, .dimension = "tensor"},
                   {.op = "all-reduce", .ranks = 8, .dimension = "data"}};
    EXPECT_EQ(dimension(), "data");
    const Json timeline = recorded_timeline(trace, found, 100);
    EXPECT_EQ(timeline["calls"], Json::parse(R"([["all-reduce", 8, 2048.0, "", 0]])"));
    EXPECT_EQ(timeline["stages"][0]["lanes"][3]["call"], Json::parse("[0]"));
    EXPECT_FALSE(timeline["stages"][0]["lanes"][1].contains("call"));
}

TEST(recorded_timeline, what_is_of_one_layer_is_one_slice_of_layers_and_of_launches) {
    const KinetoTrace trace = small_trace();
    StepComparison found = compared(trace);
    std::vector<RecordedKernel>& kernels = found.recorded.kernels;
    ASSERT_EQ(kernels.size(), 4U);
    kernels[0].layer = kernels[1].layer = 3;
    kernels[3].pass = WorkPass::backward;
    const Json timeline = recorded_timeline(trace, found, 100);
    EXPECT_EQ(slices_of(timeline, "layers"), (std::vector<Slice>{{"layers", "forward layer", 10'000, 8'000},
                                                                 {"layers", "data parallel", 18'000, 4'000},
                                                                 {"layers", "backward", 22'000, 8'000}}));
    EXPECT_EQ(timeline["stages"][0]["lanes"][0]["layer"], Json::parse("[3, -1, -1]"));
    EXPECT_EQ(slices_of(timeline, "host"),
              (std::vector<Slice>{
                  {"host", "launch", 250, 4'750}, {"host", "launch", 6'000, 0}, {"host", "launch", 7'000, 0}}));
}

}  // namespace
}  // namespace weft
