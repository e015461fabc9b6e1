// Where the marks of a scatter picture stand.
#include "tools/output/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

namespace weft {
namespace {

using testing::HasSubstr;

struct SlicePlace {
    double x, y;
};

std::vector<SlicePlace> discs(const std::string& svg) {
    static const std::regex circle(R"re(<circle class="predict" cx="([0-9.]+)" cy="([0-9.]+)")re");
    std::vector<SlicePlace> places;
    for (auto it = std::sregex_iterator(svg.begin(), svg.end(), circle); it != std::sregex_iterator(); ++it) {
        places.push_back({std::stod((*it)[1]), std::stod((*it)[2])});
    }
    return places;
}

ScatterPoint point(double measured, double predicted, ScatterPoint::Mark mark = ScatterPoint::Mark::predict) {
    return {.measured = measured, .predicted = predicted, .mark = mark, .hint = "a < b"};
}

// From 1 to 100 s both axes have two decades; equal values stand on the diagonal, a decade takes half of the side.
TEST(scatter_svg, has_both_axes_on_one_logarithmic_scale) {
    const std::vector<SlicePlace> places = discs(
        scatter_svg({.title = "t", .unit = "s", .points = {point(1, 1), point(10, 10), point(100, 1), point(1, 100)}}));
    ASSERT_EQ(places.size(), 4U);
    const double side = places[2].x - places[0].x;
    EXPECT_NEAR(places[0].y - places[3].y, side, 0.11);
    EXPECT_NEAR(places[1].x, places[0].x + side / 2, 0.11);
    EXPECT_NEAR(places[1].y, places[0].y - side / 2, 0.11);
}

TEST(scatter_svg, tells_fitted_points_by_their_mark) {
    const std::string svg = scatter_svg(
        {.title = "t & u", .unit = "B", .points = {point(1e9, 2e9), point(1e9, 1e9, ScatterPoint::Mark::fit)}});
    EXPECT_EQ(discs(svg).size(), 1U);
    EXPECT_THAT(svg, HasSubstr("<path class=\"fit\""));
    EXPECT_THAT(svg, HasSubstr("<title>a &lt; b</title>"));
    EXPECT_THAT(svg, HasSubstr("<title>t &amp; u</title>"));
}

TEST(scatter_svg, leaves_out_what_has_no_place) {
    EXPECT_EQ(scatter_svg({}), "");
    EXPECT_EQ(scatter_svg({.title = "", .unit = "s", .points = {point(1, 0), point(NAN, 1)}}), "");
    EXPECT_EQ(discs(scatter_svg({.title = "", .unit = "s", .points = {point(1, 0), point(2, 3)}})).size(), 1U);
}

}  // namespace
}  // namespace weft
