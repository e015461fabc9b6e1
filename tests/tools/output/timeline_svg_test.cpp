#include "tools/output/timeline_svg.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/tools/output/svg_document.hpp"
#include "tests/tools/output/two_stages.hpp"

namespace weft {
namespace {

using testing_support::at;
using testing_support::compute_lane;
using testing_support::Recorded;
using testing_support::two_stages;

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++n;
    return n;
}

TEST(timeline_svg, is_well_formed_whatever_the_names) {
    const Recorded run = two_stages();
    const auto svg = test::parsed_svg(timeline_svg(run.program, run.timeline, {.title = "a < b & \"c\""}));
    EXPECT_EQ(svg.get<std::string>("title"), "a < b & \"c\"");
    EXPECT_EQ(svg.get<std::string>("<xmlattr>.xmlns"), "http://www.w3.org/2000/svg");
}

TEST(timeline_svg, has_a_named_row_per_rank_class_and_a_legend_of_what_occurs) {
    const Recorded run = two_stages();
    const std::string svg = timeline_svg(run.program, run.timeline);
    EXPECT_EQ(count(svg, ">stage 1</text>"), 1u);
    EXPECT_EQ(count(svg, "class=\"lane\""), 4u);
    EXPECT_EQ(count(svg, ">forward</text>"), 1u);
    EXPECT_EQ(count(svg, ">communication</text>"), 1u);
    EXPECT_EQ(count(svg, ">backward</text>"), 0u);
}

TEST(timeline_svg, has_a_time_axis_in_a_readable_unit) {
    const Recorded run = two_stages();
    const std::string svg = timeline_svg(run.program, run.timeline);
    for (int tick = 0; tick <= 7; ++tick) EXPECT_EQ(count(svg, ">" + std::to_string(tick) + " us</text>"), 1u);
    EXPECT_EQ(count(svg, " us</text>"), 8u);
}

TEST(timeline_svg, follows_the_readers_colour_scheme) {
    const Recorded run = two_stages();
    EXPECT_EQ(count(timeline_svg(run.program, run.timeline), "prefers-color-scheme:dark"), 1u);
}

// Every other nanosecond something else, in more classes than there are rows.
Recorded busy_machine(std::uint32_t classes) {
    ProgramBuilder builder({"compute"});
    Recorded run;
    for (std::uint32_t c = 0; c < classes; ++c) {
        builder.begin_class("rank " + std::to_string(c), RankId(c), 1);
        for (std::int64_t i = 0; i < 5000; ++i) {
            builder.add({OpKind::compute, compute_lane, builder.label(i % 3 == 0 ? "forward" : "backward"),
                         builder.work({}), 0, 0},
                        {});
            run.timeline.spans.push_back({at(i * 1000), at(i * 1000), at(i * 1000 + 300 + 97 * (i % 7))});
        }
    }
    run.timeline.end = at(5'000'000);
    run.program = builder.finish();
    return run;
}

TEST(timeline_svg, stays_small_and_says_which_classes_it_shows) {
    const Recorded run = busy_machine(100);
    const std::string svg = timeline_svg(run.program, run.timeline, {.title = "busy"});
    EXPECT_LT(svg.size(), 200'000u);
    EXPECT_EQ(count(svg, "class=\"lane\""), 48u);
    EXPECT_EQ(count(svg, "24 of 100 rank classes"), 1u);
    EXPECT_EQ(count(svg, ">rank 0</text>"), 1u);
    EXPECT_EQ(count(svg, ">rank 95</text>"), 1u);
}

TEST(timeline_svg, shows_the_classes_that_are_asked_for) {
    const std::string svg = timeline_svg(busy_machine(100).program, busy_machine(100).timeline,
                                         {.classes = {RankClassId{7}, RankClassId{50}}});
    EXPECT_EQ(count(svg, "class=\"lane\""), 4u);
    EXPECT_EQ(count(svg, ">rank 50</text>"), 1u);
    EXPECT_EQ(count(svg, "2 of 100 rank classes"), 1u);
}

TEST(timeline_svg, draws_a_run_of_no_length) {
    const Recorded run{.program = ProgramBuilder({"compute"}).finish(), .timeline = {}};
    EXPECT_NO_THROW(test::parsed_svg(timeline_svg(run.program, run.timeline)));
}

}  // namespace
}  // namespace weft
