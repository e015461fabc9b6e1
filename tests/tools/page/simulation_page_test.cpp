#include "tools/page/simulation_page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/tools/page/small_runs.hpp"
#include "tools/page/pages.hpp"
#include "workloads/report/simulation.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++n;
    return n;
}

// From the columns back to begin and end, as the script does it.
TEST(simulation_data, holds_every_slice_of_the_chosen_classes) {
    const Simulation run = test::dense_run();
    const TimelinePart part = timeline_part(run.step, run.timeline);
    const SortedJson data = SortedJson::parse(simulation_data(run, part, {}));
    std::vector<RankClassId> rows = part.classes;
    rows.insert(rows.end(), part.further.begin(), part.further.end());
    std::ranges::sort(rows);  // classes are numbered stage by stage
    ASSERT_EQ(data["timeline"]["stages"].size(), rows.size());
    const Program& program = run.step.program;
    for (std::size_t s = 0; s < rows.size(); ++s) {
        const RankClass& rank_class = program.classes[rows[s]];
        const bool shown = std::ranges::find(part.classes, rows[s]) != part.classes.end();
        EXPECT_EQ(data["timeline"]["stages"][s]["shown"], shown);
        EXPECT_EQ(data["timeline"]["stages"][s]["rank"], index(rank_class.representative));
        std::map<std::string, std::vector<std::pair<std::int64_t, Op>>> expected;  // by lane: end and operation
        for (std::uint32_t i = rank_class.first_op; i < rank_class.first_op + rank_class.ops; ++i) {
            const Op op = program.ops[OpId{i}];
            if (!is_slice(op, run.timeline.spans[OpId{i}])) continue;
            expected[program.lanes[index(op.lane)]].emplace_back(nanoseconds(run.timeline.spans[OpId{i}].end), op);
        }
        const SortedJson& lanes = data["timeline"]["stages"][s]["lanes"];
        ASSERT_EQ(lanes.size(), expected.size());
        for (const SortedJson& lane : lanes) {
            const auto& own = expected.at(lane["name"]);
            ASSERT_EQ(lane["gap"].size(), own.size());
            std::int64_t at = 0;
            for (std::size_t i = 0; i < own.size(); ++i) {
                ASSERT_GE(lane["gap"][i].get<std::int64_t>(), 0) << "slices of a lane do not overlap";
                at += lane["gap"][i].get<std::int64_t>() + lane["length"][i].get<std::int64_t>();
                ASSERT_EQ(at, own[i].first);
                const Op& op = own[i].second;
                EXPECT_EQ(data["timeline"]["labels"][lane["label"][i].get<std::size_t>()][0],
                          program.labels[index(op.label)]);
                EXPECT_EQ(lane["micro"][i], op.index);
                if (op.kind != OpKind::exchange) continue;
                const SortedJson& call = data["timeline"]["calls"][lane["call"][i].get<std::size_t>()];
                const Communication& what =
                    program.communications[program.exchanges[ExchangeId(op.subject)].communication];
                EXPECT_EQ(call[2].get<double>(), std::round(what.message.value));
                EXPECT_LE(lane["wait"][i].get<std::int64_t>(), lane["gap"][i].get<std::int64_t>());
            }
        }
    }
}

TEST(simulation_data, has_the_peak_of_memory_and_the_capacity) {
    const Simulation run = test::dense_run();
    const SortedJson memory =
        SortedJson::parse(simulation_data(run, timeline_part(run.step, run.timeline), {}))["memory"];
    EXPECT_EQ(memory["capacity"].get<double>(), run.plan.device.memory.value);
    double most = 0;
    for (const SortedJson& bytes : memory["series"][0]["bytes"]) most = std::max(most, bytes.get<double>());
    double expected = 0;
    for (const MemoryPoint& point : memory_timeline(run, RankClassId{0})) {
        expected = std::max(expected, point.in_use.value);
    }
    EXPECT_NEAR(most, expected, 1);
}

TEST(simulation_data, leaves_out_what_begins_too_late) {
    const Simulation run = test::dense_run();
    const TimelinePart part = timeline_part(run.step, run.timeline, {.slices = 500, .stages = 16});
    ASSERT_GT(part.left_out, 0u);
    const SortedJson data = SortedJson::parse(simulation_data(run, part, {}));
    std::size_t slices = 0;
    for (const SortedJson& stage : data["timeline"]["stages"]) {
        if (!stage["shown"].get<bool>()) continue;
        for (const SortedJson& lane : stage["lanes"]) slices += lane["gap"].size();
    }
    EXPECT_EQ(slices, part.slices);
    EXPECT_EQ(data["timeline"]["until"], nanoseconds(part.until));
}

// Each share holds until the next time, so their mean over the step is the report's.
TEST(simulation_data, has_what_the_report_says_of_links) {
    const Simulation run = test::dense_run();
    const Report report = make_report(run);
    const SortedJson timeline =
        SortedJson::parse(simulation_data(run, timeline_part(run.step, run.timeline), {}))["timeline"];
    const double end = timeline["until"];
    ASSERT_FALSE(timeline["links"].empty());
    for (const SortedJson& link : timeline["links"]) {
        double sum = 0;
        for (std::size_t i = 0; i < link["at"].size(); ++i) {
            const double next = i + 1 < link["at"].size() ? link["at"][i + 1].get<double>() : end;
            sum += link["share"][i].get<double>() * (next - link["at"][i].get<double>());
        }
        const auto row = std::ranges::find(report.links, link["name"].get<std::string>(), &LinkReport::link_class);
        ASSERT_NE(row, report.links.end());
        EXPECT_NEAR(sum / end, row->utilization, 1e-3) << link["name"];
    }
}

TEST(stage_bars, parts_of_each_stage_are_its_step) {
    for (const Simulation& run : {test::dense_run(), test::expert_run()}) {
        const Report report = make_report(run);
        for (const StageReport& stage : report.stages) {
            Seconds exposed;
            for (const DimensionTime& each : stage.dimensions) exposed += each.time;
            EXPECT_NEAR(exposed.value, stage.exposed.value, 1e-9 * report.metric("step.time_s"));
        }
        EXPECT_EQ(count(stage_bars(report), "class=\"bar\""), report.stages.size() + 1);
    }
}

TEST(stage_bars, says_how_many_of_many_stages_are_drawn) {
    Report report = make_report(test::dense_run());
    while (report.stages.size() < 40) report.stages.push_back(report.stages.back());
    const std::string bars = stage_bars(report);
    EXPECT_EQ(count(bars, "class=\"bar\""), 17u);
    EXPECT_EQ(count(bars, "16 of 40 stages are drawn"), 1u);
}

// The same calls as in the report, which counts them in another way.
TEST(message_table, counts_the_calls_of_the_report) {
    const Simulation run = test::dense_run();
    std::map<std::string, double> calls;
    for (const MessageCount& message : message_counts(run)) calls[message.op] += message.calls;
    std::map<std::string, double> expected;
    for (const CommunicationReport& row : make_report(run).communication) {
        expected[row.dimension + ' ' + row.op] += row.calls;
    }
    ASSERT_EQ(calls.size(), expected.size());
    for (const auto& [op, number] : expected) EXPECT_NEAR(calls[op], number, 1e-9 * number) << op;
}

TEST(message_table, names_powers_of_two_as_whole_numbers) {
    const std::string table = message_table({{"data all_reduce", Bytes{65536}, Bytes{131072}, 3, Bytes{3e5}},
                                             {"data all_reduce", Bytes{0}, Bytes{1}, 1, Bytes{0}}});
    EXPECT_EQ(count(table, "<th scope=\"col\">64 KiB</th>"), 1u);
    EXPECT_EQ(count(table, "<th scope=\"col\">empty</th>"), 1u);
    EXPECT_EQ(count(table, "75.0 %"), 1u);
}

std::string page_of(Simulation run, const JobInput& input) {
    JobExplanation unexplained{.step = {.run = std::move(run), .folded = {}}};
    unexplained.report = make_report(unexplained.step.run);
    return explained_page(unexplained, input);
}

TEST(simulation_page, tells_sources_and_how_it_was_made) {
    const JobInput input{.command = "weft simulate <job>",
                         .text = R"({"machine": "frontier", "model": "gpt-neox-20b", "x": "</script>"})"};
    const std::string page = page_of(test::dense_run(), input);
    EXPECT_EQ(count(page, "weft</span> <span>simulate</span> <span>&lt;job&gt;"), 1u);
    for (const char* file :
         {"topologies/machines/frontier.json", "models/devices/mi250x-gcd.json", "models/catalog/gpt-neox-20b.json"}) {
        EXPECT_GE(count(page, file), 1u) << file;
    }
    EXPECT_EQ(count(page, "</script>"), 3u);  // data, charts, own
    EXPECT_EQ(page, page_of(test::dense_run(), input)) << "the same bytes every time";
}

TEST(simulation_page, names_the_busiest_links_and_what_carries_each_kind_of_call) {
    const Report report = make_report(test::dense_run());
    const std::string page = page_of(test::dense_run(), {.command = "", .text = "{}"});
    ASSERT_GT(report.hottest.size(), 4u);
    for (const HotLink& link : report.hottest) {
        EXPECT_GE(count(page, ">" + link.from + "</th><td>" + link.to + "<"), 1u) << link.from;
    }
    std::size_t kinds = 0;
    for (const CommunicationReport& row : report.communication) kinds += row.by_message.size();
    EXPECT_GE(kinds, report.communication.size());
    const std::size_t begin = page.find("What carries them"), end = page.find("</table>", begin);
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(count(page.substr(begin, end - begin), "<tr>"), kinds + 1);
}

TEST(simulation_page, says_what_the_timeline_leaves_out) {
    const std::string page = page_of(test::small_run("frontier-gpt-neox-20b-3d.json", {"batch.global=32768"}),
                                     {.command = "", .text = "{}"});
    EXPECT_EQ(count(page, "2 of 4 stages, evenly chosen"), 1u);
    EXPECT_EQ(count(page, "more slices would be too many for a page"), 1u);
    EXPECT_LT(page.size(), 6'000'000u);
}

TEST(sources, of_a_model_inside_the_job_are_those_of_the_machine_alone) {
    const Simulation run = test::dense_run();
    const auto with = sources({.command = "", .text = R"({"machine": "frontier", "model": {"layers": 2}})"}, run.plan);
    const auto without = sources({.command = "", .text = "{}"}, run.plan);
    EXPECT_GT(with.size(), without.size());
    for (const Source& source : with) EXPECT_FALSE(source.text.empty());
    for (const Source& source : without) EXPECT_EQ(source.file, "models/devices/mi250x-gcd.json");
}

}  // namespace
}  // namespace weft
