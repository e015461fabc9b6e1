// A recorded step beside the simulated one as a page, as `weft compare JOB TRACE --report` writes it.
#include "tools/page/pages.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <vector>

#include "sim/io/units.hpp"
#include "tests/tools/program.hpp"
#include "tests/workloads/recorded/kineto_text.hpp"
#include "tools/output/figures.hpp"
#include "tools/output/svg_text.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

Json data_in(const std::string& page) {
    const std::string begin = "id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

bool has(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

std::string time_cell(const Json& femtoseconds) {
    const auto time = femtoseconds.get<std::int64_t>();
    return time == 0 ? "" : to_text(Seconds{static_cast<double>(time) / 1e15});
}

std::string count_cell(const Json& count) { return count == 0 ? "" : grouped(count.get<double>()); }

// The rows of a class or layer, gap and unmatched kernel of the JSON in the tables of the page.
void expect_rows(const Json& json, const std::string& page) {
    for (const Json& work : json["classes"]) {
        const std::string row = fmt::format(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
            "<td class=\"number\">{}</td><td class=\"number\">{}</td>",
            work["pass"].get<std::string>(), work["class"].get<std::string>(), count_cell(work["count"][0]),
            count_cell(work["count"][1]), time_cell(work["time_fs"][0]), time_cell(work["time_fs"][1]));
        EXPECT_TRUE(has(page, row)) << row;
    }
    for (const Json& gap : json["gaps"]) {
        const std::string row = fmt::format(
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td>",
            xml_escaped(gap["cause"].get<std::string>()), time_cell(gap["time_fs"][0]), time_cell(gap["time_fs"][1]));
        EXPECT_TRUE(has(page, row)) << row;
    }
    for (const Json& each : json["unmatched"]) {
        const std::string row = fmt::format(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"number\">{}</td>",
            each["side"].get<std::string>(), each["pass"].get<std::string>(), each["class"].get<std::string>(),
            each.contains("layer") ? fmt::to_string(each["layer"].get<int>()) : "");
        EXPECT_TRUE(has(page, row)) << row;
    }
}

// Cards, tables and timelines of a page of one trace have the figures of its JSON.
void expect_alike(const Json& json, const std::string& page) {
    const auto step = json["step_fs"];
    const auto own = step[0].get<std::int64_t>() - std::llround(json["profiling_s"].get<double>() * 1e15);
    for (const Json& time : {step[0], step[1], Json(own)}) {
        EXPECT_TRUE(has(page, "<dd class=\"figure\">" + time_cell(time) + "</dd>")) << time;
    }
    EXPECT_TRUE(has(page, "<dd class=\"figure\">" + percent(json["matched"].get<double>()) + "</dd>"));
    expect_rows(json, page);
    const Json jobs = data_in(page)["jobs"];
    ASSERT_EQ(jobs.size(), 2U);
    EXPECT_EQ(jobs[0]["axis"], jobs[1]["axis"]);
    EXPECT_EQ(jobs[0]["timeline"]["until"].get<std::int64_t>() * 1'000'000, step[0].get<std::int64_t>());
    EXPECT_EQ(jobs[1]["timeline"]["until"].get<std::int64_t>(), (step[1].get<std::int64_t>() + 500'000) / 1'000'000);
    std::vector<Json> layers;
    for (const Json& work : json["layers"]) {
        if (!work.contains("layer")) continue;
        const auto ns = [&](std::size_t side) {
            return (work["time_fs"][side].get<std::int64_t>() + 500'000) / 1'000'000;
        };
        layers.push_back({work["pass"], work["layer"], work["class"], ns(0), ns(1)});
    }
    EXPECT_EQ(jobs[0]["layers"], Json(layers));
    std::int64_t drawn = 0, compared = 0;
    for (const Json& lane : jobs[0]["timeline"]["stages"][0]["lanes"]) {
        if (!lane["name"].get<std::string>().starts_with("stream")) continue;
        for (const Json& length : lane["length"]) drawn += length.get<std::int64_t>();
    }
    for (const Json& work : json["classes"]) compared += work["time_fs"][0].get<std::int64_t>();
    EXPECT_EQ(drawn * 1'000'000, compared) << "kernels are in the timeline as in the table";
}

class step_comparison_page_test : public ::testing::Test {
  protected:
    void SetUp() override {
        std::ofstream(path("job.json")) << R"({"machine": "dgx-h100", "nodes": 1, "model": "llama3-8b",
            "framework": "fsdp", "layout": {"data": 8}, "batch": {"sequence": 2048, "micro": 1, "global": 8}})";
        test::KinetoText text;
        text.host("cpu_op", "aten::mm", 0, 9, R"("Input Dims":[[2048,4096],[4096,4096]])");
        text.kernel("nvjet_<sm90>", 12, 300, 2);
        text.kernel("ncclDevKernel_AllGather", 200, 400, 4,
                    R"("Collective name":"_allgather_base","In msg nelems":4096,"Out msg nelems":32768,"Group size":8,)"
                    R"("dtype":"BFloat16")",
                    1, 20);
        text.kernel("elementwise", 700, 40, 650);
        std::ofstream(path("trace.json")) << text.text();
    }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
    test::Ran ran(const std::string& arguments) const { return test::run_weft(arguments, folder_.path()); }

    test::TemporaryFolder folder_;
};

TEST_F(step_comparison_page_test, has_the_figures_of_the_json) {
    const test::Ran told = ran("compare job.json trace.json --json --report page.html");
    ASSERT_EQ(told.exit_code, 0) << told.err;
    const std::string page = test::read_file(path("page.html"));
    expect_alike(Json::parse(told.out), page);
    EXPECT_TRUE(has(page, "job, recorded and simulated</h1>"));
    EXPECT_TRUE(has(page, "weft</span> <span>compare</span> <span>job.json</span> <span>trace.json"));
    EXPECT_TRUE(has(page, "nvjet_&lt;sm90&gt;") && !has(page, "nvjet_<sm90>"));
    EXPECT_TRUE(has(page, "id=\"calls\""));
    EXPECT_TRUE(has(page, "1 ranks were recorded, the job has 8"));
    EXPECT_TRUE(has(page, "could not be told apart")) << "one product makes no layer";
}

TEST_F(step_comparison_page_test, several_traces_have_an_axis_each) {
    std::filesystem::copy_file(path("trace.json"), path("other.json"));
    ASSERT_EQ(ran("compare job.json trace.json other.json --report page.html").exit_code, 0);
    const std::string page = test::read_file(path("page.html"));
    const Json jobs = data_in(page)["jobs"];
    ASSERT_EQ(jobs.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(jobs[i]["axis"], i / 2 * 2);
        EXPECT_TRUE(has(page, fmt::format("<div id=\"timeline-{}\">", i)));
    }
    EXPECT_TRUE(has(page, "<summary>other.json: Recorded 740 us"));
}

TEST_F(step_comparison_page_test, real_steps_have_the_figures_of_their_json) {
    const std::filesystem::path traces = std::filesystem::path(WEFT_SOURCE_DIR) / "../shared/reference/gpu";
    if (!std::filesystem::exists(traces)) GTEST_SKIP() << "no traces beside the project";
    std::ofstream(path("one.json")) << R"({"machine": {"extends": "dgx-h100", "nodes": 1}, "layout": {"data": 1},
        "model": {"layers": 16, "hidden": 2048, "heads": 32, "kv_heads": 8, "vocabulary": 128256,
                  "vocabulary_multiple": 1, "ffn_hidden": 8192, "gated": true, "norm": "rms_norm", "biases": false},
        "batch": {"sequence": 2048, "micro": 4, "global": 4}, "attention": "cudnn", "precision": "bf16",
        "modules": "plain", "framework": "fsdp", "fsdp": {"version": 2, "reduce_precision": "fp32"}})";
    int seen = 0;
    for (const auto& each : std::filesystem::directory_iterator(traces)) {
        if (!each.path().filename().string().starts_with("trace_")) continue;
        SCOPED_TRACE(each.path());
        const test::Ran told = ran("compare one.json '" + each.path().string() + "' --json --report page.html");
        ASSERT_EQ(told.exit_code, 0) << told.err;
        expect_alike(Json::parse(told.out), test::read_file(path("page.html")));
        ++seen;
    }
    EXPECT_GE(seen, 4);
}

}  // namespace
}  // namespace weft
