#include "tools/page/pages.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/program.hpp"
#include "tools/output/comparison_text.hpp"
#include "tools/page/timeline.hpp"

namespace weft {
namespace {

using SortedJson = nlohmann::json;

constexpr const char* job = WEFT_SOURCE_DIR "/workloads/jobs/frontier-gpt-neox-20b-3d.json";

// A batch, half of it, and the batch again.
const JobComparison& three_jobs() {
    static const JobComparison comparison = compare_jobs(
        {{"a <b>", {job, {"batch.global=128"}}},
         {"half", {job, {"batch.global=64"}}},
         {"again", {job, {"batch.global=128"}}}},
        {.simulation = {.folding = Folding::automatic, .recording = Recording::spans_and_links}, .changes = false});
    return comparison;
}

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++n;
    return n;
}

SortedJson data_in(const std::string& page) {
    const std::string begin = "id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    return SortedJson::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(compare_page, has_a_timeline_of_every_job_within_what_a_page_can_hold) {
    const SortedJson data = data_in(compare_page(three_jobs(), {.title = "t", .command = "c"}));
    ASSERT_EQ(data["jobs"].size(), 3u);
    std::size_t slices = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        const SortedJson& timeline = data["jobs"][i]["timeline"];
        EXPECT_EQ(timeline["until"].get<std::int64_t>(),
                  (three_jobs().jobs[i].explanation.end.femtoseconds + 500'000) / 1'000'000);
        EXPECT_FALSE(timeline["links"].empty());
        for (const SortedJson& stage : timeline["stages"]) {
            EXPECT_TRUE(stage.contains("path"));
            for (const SortedJson& lane : stage["lanes"]) slices += lane["gap"].size();
        }
    }
    EXPECT_LE(slices, TimelineLimits{}.held);
}

TEST(compare_page, bars_reach_as_far_as_the_differences) {
    const std::string page = compare_page(three_jobs(), {.title = "t", .command = "weft compare <x>"});
    EXPECT_EQ(count_of(page, "weft</span> <span>compare</span> <span>&lt;x&gt;"), 1u);
    EXPECT_EQ(count_of(page, "width:50.00%"), 1u) << "the largest difference alone reaches an edge";
    EXPECT_EQ(count_of(page, "left:0.00%;width:50.00%;background:var(--good)"), 1u) << "it is a saving";
    EXPECT_EQ(count_of(page, "var(--bad)\"></span>"), 0u) << "half a batch costs nothing, the same costs the same";
    EXPECT_EQ(count_of(page, "; again "), 1u);
    EXPECT_EQ(count_of(page, ", the same.</p>"), 1u);
    EXPECT_EQ(count_of(page, "<td>128</td>"), 2u) << "batch.global of two of the three";
}

TEST(compare_page, has_the_same_lines_as_the_text) {
    const std::string page = compare_page(three_jobs(), {.title = "t", .command = "c"});
    std::vector<std::int64_t> sums(3, 0);
    for (const ComparedCause& line : cause_lines(three_jobs())) {
        const std::string name = cause_text(line.cause);
        EXPECT_NE(page.find("<th scope=\"row\">" + name + "</th>"), std::string::npos) << name;
        for (std::size_t i = 0; i < 3; ++i) sums[i] += line.ticks[i];
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sums[i], three_jobs().jobs[i].explanation.end.femtoseconds);
}

TEST(compare_page, is_written_by_the_command) {
    const test::TemporaryFolder folder;
    const std::string path = (folder.path() / "difference.html").string();
    const std::string arguments = std::string("compare ") + job + " --set batch.global=128 --report " + path;
    const test::Ran ran = test::run_weft(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const std::string page = test::read_file(path);
    EXPECT_EQ(data_in(page)["jobs"][1]["name"], "changed");
    EXPECT_NE(page.find("frontier-gpt-neox-20b-3d, as it is and changed</h1>"), std::string::npos);
    EXPECT_NE(page.find("--set</span> <span>'batch.global=128'"), std::string::npos);
    EXPECT_EQ(test::run_weft(std::string("compare ") + job + " --set batch.global=128 --report x.txt").exit_code, 2);
    test::run_weft(arguments);
    EXPECT_EQ(test::read_file(path), page) << "the same bytes every time";
}

}  // namespace
}  // namespace weft
