#include "tools/output/timeline_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/io/files.hpp"
#include "sim/program/program_builder.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tools/output/two_stages.hpp"

namespace weft {
namespace {

using nlohmann::json;

using testing_support::at;
using testing_support::at_us;
using testing_support::compute_lane;
using testing_support::Recorded;
using testing_support::two_stages;

// The trace as written to a file of this name, and the warning.
std::string trace_text(const Recorded& run, const TraceOptions& options = {}, std::string* warning = nullptr,
                       const char* name = "trace.json") {
    const test::TemporaryFolder folder;
    const std::string said = write_trace(folder.path() / name, run.program, run.timeline, run.topology, options);
    if (warning != nullptr) *warning = said;
    return read_text(folder.path() / name);
}

std::vector<json> events(const Recorded& run, const std::string& kind, const TraceOptions& options = {}) {
    const json trace = json::parse(trace_text(run, options));
    std::vector<json> chosen;
    for (const json& e : trace["traceEvents"]) {
        if (e["ph"] == kind) chosen.push_back(e);
    }
    return chosen;
}

TEST(chrome_trace, names_processes_and_used_lanes_in_order_before_anything_else) {
    const Recorded run = two_stages();
    const json trace = json::parse(trace_text(run));
    std::map<int, std::string> processes;
    std::map<int, std::map<int, std::string>> lanes;
    bool only_names_so_far = true;
    for (const json& e : trace["traceEvents"]) {
        if (e["ph"] != "M") only_names_so_far = false;
        EXPECT_TRUE(e["ph"] != "M" || only_names_so_far);
        if (e["name"] == "process_name") processes[e["pid"]] = e["args"]["name"];
        if (e["name"] == "thread_name") lanes[e["pid"]][e["tid"]] = e["args"]["name"];
    }
    EXPECT_THAT(processes, testing::ElementsAre(testing::Pair(1, "stage \"0\" (4 ranks)"), testing::Pair(2, "stage 1"),
                                                testing::Pair(3, "network")));
    const auto in_order = [&lanes](int pid) {
        std::vector<std::string> names;
        for (const auto& [tid, lane] : lanes[pid]) names.push_back(lane);
        return names;
    };
    EXPECT_THAT(in_order(1), testing::ElementsAre("compute", "send"));
    EXPECT_THAT(in_order(2), testing::ElementsAre("compute", "receive"));
}

TEST(chrome_trace, has_a_slice_for_each_operation_and_each_wait) {
    std::vector<std::tuple<int, std::string, double, double>> slices;
    for (const json& e : events(two_stages(), "X")) slices.emplace_back(e["pid"], e["name"], e["ts"], e["dur"]);
    using Slice = std::tuple<int, std::string, double, double>;
    EXPECT_THAT(slices, testing::ElementsAre(Slice{1, "forward", 0, 3}, Slice{1, "send activation", 3, 1},
                                             Slice{2, "wait", 0, 3}, Slice{2, "receive activation", 3, 1},
                                             Slice{2, "forward", 4, 3}));
}

TEST(chrome_trace, shows_the_classes_that_are_asked_for_and_no_arrows_to_others) {
    const Recorded run = two_stages();
    const TraceOptions options{.classes = {RankClassId{1}}};
    for (const json& slice : events(run, "X", options)) EXPECT_EQ(slice["pid"], 2);
    EXPECT_EQ(events(run, "X", options).size(), 3u);
    EXPECT_TRUE(events(run, "s", options).empty());
}

TEST(chrome_trace, tells_the_size_of_a_message_and_how_long_it_was_waited_for) {
    const json received = events(two_stages(), "X")[3];
    EXPECT_EQ(received["cat"], "receive");
    EXPECT_EQ(received["args"], json::parse(R"({"micro_batch": 7, "layer": 0, "operation": "point_to_point",
                                                "group_size": 2, "message_bytes": 1000, "wait_us": 3.0,
                                                "busbw_bytes_per_s": 1000000000})"));
}

TEST(chrome_trace, draws_an_arrow_from_inside_the_send_to_inside_its_receive) {
    const Recorded run = two_stages();
    const auto slices = events(run, "X"), starts = events(run, "s"), ends = events(run, "f");
    ASSERT_EQ(starts.size(), 1u);
    ASSERT_EQ(ends.size(), 1u);
    for (const char* key : {"id", "cat", "name"}) EXPECT_EQ(starts[0][key], ends[0][key]);
    EXPECT_EQ(ends[0]["bp"], "e");
    const auto inside = [](const json& end, const json& slice) {
        const double begin = slice["ts"], length = slice["dur"], when = end["ts"];
        return end["tid"] == slice["tid"] && when >= begin && when < begin + length;
    };
    EXPECT_TRUE(inside(starts[0], slices[1]));
    EXPECT_TRUE(inside(ends[0], slices[3]));
}

TEST(chrome_trace, counts_link_utilization_and_the_callers_series) {
    const Recorded run = two_stages();
    const CounterSeries memory{RankClassId{1}, "memory", "bytes", {{at_us(0), 64e9}, {at_us(4), 65.5e9}}};
    const auto counters = events(run, "C", {.title = "", .counters = {memory}});
    ASSERT_EQ(counters.size(), 5u);
    EXPECT_EQ(counters[1],
              json::parse(R"({"ph":"C","pid":2,"ts":4.0,"name":"memory","args":{"bytes":65500000000.0}})"));
    EXPECT_EQ(counters[3], json::parse(R"({"ph":"C","pid":3,"ts":3.0,"name":"toy","args":{"utilization":0.5}})"));
    EXPECT_EQ(counters[4], json::parse(R"({"ph":"C","pid":3,"ts":7.0,"name":"toy","args":{"utilization":0}})"));
}

TEST(chrome_trace, leaves_out_what_exceeds_the_limit_and_says_so) {
    const Recorded run = two_stages();
    const TraceOptions options{.title = "", .counters = {}, .most_slices = 2};
    std::string warning;
    const std::string trace = trace_text(run, options, &warning);
    EXPECT_TRUE(json::accept(trace));
    EXPECT_EQ(trace.find("\"ph\":\"s\""), std::string::npos) << "an arrow needs both its slices";
    EXPECT_EQ(warning, "the trace holds the first 2 slices; 3 more were left out, from the last rank classes");
}

// Instants that are no whole nanoseconds, hours into a run; some operations round to nothing.
constexpr std::int64_t hours_later = 9'000'000'000'000'123'456;

Recorded late_steps() {
    ProgramBuilder builder({"compute"});
    builder.begin_class("rank", RankId(0), 1);
    Recorded run;
    std::int64_t now = hours_later;
    for (std::uint32_t i = 0; i < 200; ++i) {
        builder.add({OpKind::compute, compute_lane, builder.label("step"), builder.work({}), i, 0}, {});
        const std::int64_t end = now + 700'001 * (i % 5) + i;
        run.timeline.spans.push_back({at(now), at(now), at(end)});
        now = end;
    }
    run.timeline.end = at(now);
    run.program = builder.finish();
    return run;
}

TEST(chrome_trace, slices_of_a_lane_touch_where_operations_do) {
    const Recorded run = late_steps();
    const auto nanoseconds = [](double microseconds) { return std::llround(microseconds * 1e3); };
    std::int64_t last = -1;
    const std::vector<json> slices = events(run, "X");
    for (const json& slice : slices) {
        const std::int64_t begin = nanoseconds(slice["ts"]), length = nanoseconds(slice["dur"]);
        EXPECT_TRUE(last < 0 || begin == last) << "at " << last;
        EXPECT_GT(length, 0);
        last = begin + length;
    }
    EXPECT_GT(slices.size(), 100U);
    EXPECT_LT(slices.size(), 200U);
    EXPECT_EQ(last, (run.timeline.end.femtoseconds + 500'000) / 1'000'000);
}

// As a viewer in JavaScript does.
TEST(chrome_trace, no_slice_reaches_into_the_next_where_begin_and_length_are_added_as_doubles) {
    double end = 0.0;
    for (const json& slice : events(late_steps(), "X")) {
        const double begin = slice["ts"], length = slice["dur"];
        EXPECT_LE(end, begin);
        EXPECT_GT(length, 0.0);
        end = begin + length;
    }
}

TEST(chrome_trace, is_the_same_text_when_written_twice_and_has_no_date_in_its_archive) {
    const Recorded run = two_stages();
    const std::string trace = trace_text(run);
    EXPECT_EQ(trace, trace_text(run));
    EXPECT_EQ(trace, trace_text(run, {}, nullptr, "trace.json.gz"));
    const test::TemporaryFolder folder;
    const auto path = folder.path() / "trace.json.gz";
    EXPECT_EQ(write_trace(path, run.program, run.timeline, run.topology), "");

    std::string header(10, '\0');
    std::ifstream(path, std::ios::binary).read(header.data(), 10);
    EXPECT_EQ(header.substr(0, 8), std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00", 8)) << "no name, time 0";
}

}  // namespace
}  // namespace weft
