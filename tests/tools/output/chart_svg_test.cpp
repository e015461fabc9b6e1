#include "tools/output/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sim/base/check.hpp"
#include "tests/tools/output/svg_document.hpp"
#include "tools/output/svg_text.hpp"

namespace weft {
namespace {

using test::svg_elements;
using test::svg_texts;
using test::SvgElement;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

Chart bars(ChartKind kind) {
    Chart chart{.title = "Volume", .subtitle = "16 GCDs", .kind = kind};
    chart.x.title = "Model";
    chart.y = {.title = "Volume per GPU", .unit = "B"};
    for (const char* model : {"19M", "1.3B"}) {
        for (const char* scheme : {"DDP", "ZeRO-3"}) chart.categories.push_back({scheme, model});
    }
    chart.series = {{.name = "all-reduce", .values = {4e9, 2e9, 1e9, 0.5e9}},
                    {.name = "all-gather", .values = {1e9, 2e9, 3e9, 1.5e9}}};
    return chart;
}

Chart lines() {
    Chart chart{.title = "Throughput", .kind = ChartKind::lines};
    chart.x = {.title = "Sequence length", .unit = "", .scale = AxisScale::log2};
    chart.y = {.title = "Bus bandwidth", .unit = "B/s"};
    chart.positions = {512, 1024, 2048, 4096};
    chart.series = {{.name = "ZeRO-1", .values = {1e9, 2e9, 3e9, 4e9}},
                    {.name = "theory", .values = {2e9, nothing, 4e9, 4e9}, .look = ChartSeries::Look::reference}};
    return chart;
}

TEST(chart_svg, is_well_formed_whatever_the_names) {
    Chart chart = bars(ChartKind::grouped_bars);
    chart.title = "a < b & \"c\"";
    chart.series[0].name = "<all>";
    chart.categories[0] = {"&", "'group'"};
    const std::string svg = chart_svg(chart);
    EXPECT_EQ(test::parsed_svg(svg).get<std::string>("title"), "a < b & \"c\"");
    EXPECT_EQ(test::parsed_svg(svg).get<std::string>("<xmlattr>.xmlns"), "http://www.w3.org/2000/svg");
    EXPECT_THAT(svg_texts(svg), IsSupersetOf({"<all>", "&", "'group'"}));
}

TEST(chart_svg, shows_every_title_and_label) {
    EXPECT_THAT(svg_texts(chart_svg(bars(ChartKind::grouped_bars))),
                IsSupersetOf({"Volume", "16 GCDs", "Model", "Volume per GPU", "all-reduce", "all-gather", "DDP", "DDP",
                              "ZeRO-3", "ZeRO-3", "19M", "1.3B", "0", "1 GB", "4 GB"}));
    EXPECT_THAT(svg_texts(chart_svg(lines())), IsSupersetOf({"Throughput", "Sequence length", "Bus bandwidth", "ZeRO-1",
                                                             "theory", "512", "4096", "4 GB/s"}));
}

TEST(chart_svg, grouped_bars_begin_on_one_line_as_long_as_their_values) {
    const Chart chart = bars(ChartKind::grouped_bars);
    const std::string svg = chart_svg(chart);
    const std::vector<SvgElement> first = svg_elements(svg, "bar s0"), second = svg_elements(svg, "bar s1");
    ASSERT_THAT(first, SizeIs(4));
    ASSERT_THAT(second, SizeIs(4));
    const double pixels_per_byte = first[0].width / 4e9;
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(first[i].width, chart.series[0].values[i] * pixels_per_byte, 0.02);
        EXPECT_NEAR(second[i].width, chart.series[1].values[i] * pixels_per_byte, 0.02);
        EXPECT_NEAR(first[i].x, first[0].x, 0.02);
        EXPECT_GE(second[i].y, first[i].bottom());
        if (i > 0) {
            EXPECT_GT(first[i].y, second[i - 1].bottom());
        }
    }
    EXPECT_GT(first[2].y - first[1].y, first[1].y - first[0].y + 1);          // groups stand apart
    EXPECT_THAT(svg_texts(svg), IsSupersetOf({"4 GB", "500 MB", "1.5 GB"}));  // behind their bars
}

TEST(chart_svg, percent_bars_follow_each_other_all_equally_long) {
    const std::string svg = chart_svg(bars(ChartKind::percent_bars));
    const std::vector<SvgElement> first = svg_elements(svg, "bar s0"), second = svg_elements(svg, "bar s1");
    ASSERT_THAT(first, SizeIs(4));
    ASSERT_THAT(second, SizeIs(4));
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(second[i].x, first[i].x + first[i].width, 0.02);
        EXPECT_EQ(second[i].y, first[i].y);
    }
    EXPECT_NEAR(second[2].width, 3 * first[2].width, 0.05);
    const double whole = first[0].width + second[0].width;
    for (std::size_t i = 1; i < 4; ++i) EXPECT_NEAR(first[i].width + second[i].width, whole, 0.02);
    EXPECT_NEAR(first[0].width, 0.8 * whole, 0.02);
    EXPECT_NEAR(first[3].width, 0.25 * whole, 0.02);
    EXPECT_THAT(svg_texts(svg), Contains("100 %"));
}

TEST(chart_svg, logarithmic_bars_grow_by_the_same_step_per_power) {
    Chart chart = bars(ChartKind::grouped_bars);
    chart.y.scale = AxisScale::log10;
    chart.series = {{.name = "calls", .values = {1, 10, 100, 0}}};
    const std::vector<SvgElement> drawn = svg_elements(chart_svg(chart), "bar s0");
    ASSERT_THAT(drawn, SizeIs(3));  // 0 has no bar
    EXPECT_GT(drawn[0].width, 5);
    EXPECT_NEAR(drawn[1].width - drawn[0].width, drawn[2].width - drawn[1].width, 0.05);
}

TEST(chart_svg, marks_values_that_are_not_there) {
    Chart chart = bars(ChartKind::grouped_bars);
    chart.series[0].values[1] = nothing;
    const std::string svg = chart_svg(chart);
    EXPECT_THAT(svg_elements(svg, "bar s0"), SizeIs(3));
    EXPECT_NE(svg.find("<title>none</title>"), std::string::npos);
    EXPECT_EQ(chart_svg(bars(ChartKind::grouped_bars)).find("<title>none</title>"), std::string::npos);

    chart = bars(ChartKind::percent_bars);
    for (ChartSeries& series : chart.series) series.values[2] = 0;  // shares of nothing
    EXPECT_NE(chart_svg(chart).find("<title>none</title>"), std::string::npos);
}

TEST(chart_svg, lines_have_a_mark_per_value_and_gaps_where_there_is_none) {
    const std::string svg = chart_svg(lines());
    EXPECT_THAT(svg_elements(svg, "mark s0"), SizeIs(4 + 1));  // and one in the legend
    EXPECT_THAT(svg_elements(svg, "mark s1"), SizeIs(3 + 1));
    const std::vector<SvgElement> whole = svg_elements(svg, "line s0"), broken = svg_elements(svg, "line s1");
    ASSERT_THAT(whole, SizeIs(2));
    EXPECT_EQ(std::count(whole[1].data.begin(), whole[1].data.end(), 'M'), 1);
    EXPECT_EQ(std::count(whole[1].data.begin(), whole[1].data.end(), 'L'), 3);
    EXPECT_EQ(std::count(broken[1].data.begin(), broken[1].data.end(), 'M'), 2);
    EXPECT_EQ(std::count(broken[1].data.begin(), broken[1].data.end(), 'L'), 1);
}

// The estimated ends of the texts of one kind: on the page, and apart where they stand in one row. `anchor`: the share
// of a text that is left of its place.
void expect_apart(const std::vector<SvgElement>& texts, double anchor, double page) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const double width = text_width(texts[i].text, 12), from = texts[i].x - anchor * width;
        EXPECT_GE(from, 0) << texts[i].text;
        EXPECT_LE(from + width, page) << texts[i].text;
        if (i + 1 < texts.size() && texts[i + 1].y < texts[i].y + 12) {
            EXPECT_EQ(texts[i + 1].y, texts[i].y);
            EXPECT_LE(from + width, texts[i + 1].x - anchor * text_width(texts[i + 1].text, 12)) << texts[i].text;
        }
    }
}

TEST(chart_svg, labels_do_not_cover_each_other) {
    for (const std::size_t count : {1u, 4u, 12u, 60u}) {
        for (const std::size_t series : {1u, 12u}) {
            Chart chart = bars(ChartKind::grouped_bars);
            chart.categories.clear();
            for (std::size_t i = 0; i < count; ++i) {
                chart.categories.push_back({"category", "a rather long heading " + std::to_string(i / 2)});
            }
            chart.series.assign(series, {.name = "a series of some length", .values = std::vector<double>(count, 1.0)});
            const std::string svg = chart_svg(chart);
            const double page = test::parsed_svg(svg).get<double>("<xmlattr>.width");
            expect_apart(svg_elements(svg, "legend"), 0, page);
            std::vector<SvgElement> below = svg_elements(svg, "group");
            EXPECT_EQ(below.size(), (count + 1) / 2);
            expect_apart(below, 0, page);
            expect_apart(svg_elements(svg, "category"), 1, page);
            EXPECT_EQ(svg_elements(svg, "category").size(), count);
        }
    }
}

TEST(chart_svg, draws_zeros) {
    Chart chart = bars(ChartKind::percent_bars);
    for (ChartSeries& series : chart.series) series.values = {0, 0, 0, 0};
    EXPECT_NO_THROW(test::parsed_svg(chart_svg(chart)));
    chart.kind = ChartKind::grouped_bars;
    chart.y.scale = AxisScale::log10;
    EXPECT_NO_THROW(test::parsed_svg(chart_svg(chart)));
}

TEST(chart_svg, refuses_what_it_cannot_draw) {
    Chart chart = bars(ChartKind::percent_bars);
    chart.y.scale = AxisScale::log10;
    EXPECT_THROW(chart_svg(chart), LogicError);
    chart = bars(ChartKind::grouped_bars);
    chart.series[0].values.pop_back();
    EXPECT_THROW(chart_svg(chart), LogicError);
    chart = bars(ChartKind::grouped_bars);
    chart.series[0].values[0] = -1;
    EXPECT_THROW(chart_svg(chart), LogicError);
    chart.series.clear();
    EXPECT_THROW(chart_svg(chart), LogicError);
}

}  // namespace
}  // namespace weft
