// A replayed program as a page, as `weft replay --report` writes it.
#include "tools/page/pages.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

#include "sim/io/units.hpp"
#include "tests/tools/program.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

class replay_page_test : public ::testing::Test {
  protected:
    struct Replayed {
        Json told, timeline;
        std::string page;
    };
    Replayed replayed(const std::string& goal) {
        std::ofstream(folder_.path() / "job.goal") << goal;
        const test::Ran ran =
            test::run_weft("replay job.goal --machine dgx-h100 --json --report page.html", folder_.path());
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        const std::string page = test::read_file(folder_.path() / "page.html"), begin = "id=\"data\">";
        const std::size_t from = page.find(begin) + begin.size();
        const Json data = Json::parse(page.substr(from, page.find("</script>", from) - from));
        return {Json::parse(ran.out), data["jobs"][0]["timeline"], page};
    }

    test::TemporaryFolder folder_;
};

std::int64_t ns(const Json& seconds) { return std::llround(seconds.get<double>() * 1e9); }

std::int64_t sum(const Json& list) {
    std::int64_t all = 0;
    for (const Json& each : list) all += each.get<std::int64_t>();
    return all;
}

// Rank 0 computes for 5 us, then sends to rank 1, which waits for it.
TEST_F(replay_page_test, ranks_have_lanes_of_what_they_do_and_the_path_is_the_step) {
    const auto [told, timeline, page] =
        replayed("num_ranks 2\nrank 0 { a: calc 5000 b: send 64b to 1 b requires a }\nrank 1 { recv 64b from 0 }\n");
    ASSERT_EQ(timeline["stages"].size(), 2U);
    EXPECT_EQ(timeline["until"], ns(told["step"]["time_s"]));
    const Json &computing = timeline["stages"][0]["lanes"][0], &sending = timeline["stages"][0]["lanes"][1],
               &receiving = timeline["stages"][1]["lanes"][0];
    EXPECT_EQ(computing["length"], Json::array({5000}));
    EXPECT_EQ(sending["name"], "sends");
    EXPECT_EQ(sending["gap"], Json::array({5000}));
    EXPECT_EQ(receiving["wait"], Json::array({5000})) << "for what is sent then";
    EXPECT_EQ(sum(receiving["gap"]) + sum(receiving["length"]), timeline["until"]);
    EXPECT_EQ(timeline["calls"][0][2], 64);
    std::int64_t path = 0;
    for (const Json& stage : timeline["stages"]) {
        for (std::size_t i = 1; i < stage["path"].size(); i += 2) path += stage["path"][i].get<std::int64_t>();
    }
    EXPECT_EQ(path, timeline["until"]);
    EXPECT_NE(page.find("Step time: " + to_text(Seconds{told["step"]["time_s"].get<double>()})), std::string::npos);
    for (const Json& share : told["critical_path"]) {
        EXPECT_NE(page.find("<th scope=\"row\">" + share["what"].get<std::string>() + "</th>"), std::string::npos);
    }
}

TEST_F(replay_page_test, of_many_ranks_some_are_shown_and_of_many_nodes_the_first) {
    std::string goal = "num_ranks 20\n";
    for (int rank = 0; rank < 20; ++rank) {
        goal += fmt::format("rank {} {{\n", rank);
        for (int i = 0; i < (rank == 0 ? 5000 : 2); ++i) goal += fmt::format("c{}: calc 10\n", i);
        goal += "}\n";
    }
    const auto [told, timeline, page] = replayed(goal);
    ASSERT_EQ(timeline["stages"].size(), TimelineLimits{}.stages);
    EXPECT_EQ(timeline["stages"].back()["name"], "rank 19");
    const std::size_t shown = TimelineLimits{}.slices / TimelineLimits{}.stages;
    EXPECT_EQ(timeline["stages"][0]["lanes"][0]["gap"].size(), shown);
    EXPECT_EQ(timeline["left_out"], 5000 - shown);
    EXPECT_NE(page.find("16 of 20 ranks"), std::string::npos);
    EXPECT_NE(page.find("the last 1,250 slices are not shown"), std::string::npos);
}

TEST_F(replay_page_test, a_program_that_takes_no_time_has_a_page) {
    const auto [told, timeline, page] = replayed("num_ranks 1\nrank 0 { a: calc 0 }\n");
    EXPECT_NE(page.find("Nothing takes any time."), std::string::npos);
    EXPECT_EQ(page.find("nan %"), std::string::npos);
}

}  // namespace
}  // namespace weft
