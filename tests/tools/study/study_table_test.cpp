// Tables and charts of a made-up figure: where values come to stand.
#include "tools/study/study_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace weft {
namespace {

using ::testing::ElementsAre;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

StudyFigure figure(Arrangement arrangement, ChartKind kind) {
    return {.name = "figure-99",
            .number = 99,
            .title = "A title",
            .note = "a note",
            .job = "data-parallel",
            .cases = {{.model = "19M", .scheme = "DDP", .position = 512, .overrides = {}},
                      {.model = "125M", .scheme = "DDP", .position = 1024, .overrides = {}},
                      {.model = "13B", .scheme = "ZeRO-1", .position = 1024, .overrides = {}}},
            .measure = {},
            .arrangement = arrangement,
            .kind = kind,
            .x = {},
            .y = {.title = "Volume", .unit = "B"},
            .references = {"theory"}};
}

std::vector<StudyRow> rows() {
    return {{0, {"framework", 3, "", 1}},
            {0, {"theory", 2, "", 0}},
            {1, {"framework", 4, "tight, but runs", 1}},
            {2, {"", none, "does not fit"}}};
}

std::vector<std::string> names(const Chart& chart) {
    std::vector<std::string> all;
    for (const ChartSeries& series : chart.series) all.push_back(series.name);
    return all;
}

std::vector<std::string> labels(const Chart& chart) {
    std::vector<std::string> all;
    for (const ChartCategory& category : chart.categories) all.push_back(category.label + "/" + category.group);
    return all;
}

MATCHER(is_missing, "") { return std::isnan(arg); }

TEST(study_table, has_a_line_per_value_and_per_reason) {
    EXPECT_EQ(study_csv(figure(Arrangement::bars_of_cases, ChartKind::grouped_bars), rows()),
              "figure,model,scheme,position,series,value,unit,note\n"
              "figure-99,19M,DDP,512,framework,3,B,\n"
              "figure-99,19M,DDP,512,theory,2,B,\n"
              "figure-99,125M,DDP,1024,framework,4,B,\"tight, but runs\"\n"
              "figure-99,13B,ZeRO-1,1024,,,B,does not fit\n");
}

TEST(study_chart, bars_of_cases_tell_nothing_from_not_run) {
    const Chart chart = study_chart(figure(Arrangement::bars_of_cases, ChartKind::grouped_bars), rows());
    EXPECT_THAT(labels(chart), ElementsAre("DDP/19M", "DDP/125M", "ZeRO-1/13B"));
    EXPECT_THAT(names(chart), ElementsAre("theory", "framework"));
    EXPECT_THAT(chart.series[0].values, ElementsAre(2, 0, is_missing()));
    EXPECT_THAT(chart.series[1].values, ElementsAre(3, 4, is_missing()));
    EXPECT_EQ(chart.series[0].look, ChartSeries::Look::reference);
    EXPECT_EQ(chart.series[1].look, ChartSeries::Look::solid);
    EXPECT_EQ(chart.subtitle, "a note; the table says why some could not run");
}

TEST(study_chart, bars_of_series_have_a_series_per_case) {
    const Chart chart = study_chart(figure(Arrangement::bars_of_series, ChartKind::grouped_bars), rows());
    EXPECT_THAT(labels(chart), ElementsAre("theory/", "framework/"));
    EXPECT_THAT(names(chart), ElementsAre("19M", "125M", "13B"));
    EXPECT_THAT(chart.series[1].values, ElementsAre(0, 4));
}

// Such figures measure one series.
std::vector<StudyRow> throughputs() {
    return {{0, {"throughput", 30}}, {1, {"throughput", 40}}, {2, {"throughput", none, "does not fit"}}};
}

TEST(study_chart, bars_of_schemes_have_a_series_per_position) {
    const Chart chart = study_chart(figure(Arrangement::bars_of_schemes, ChartKind::grouped_bars), throughputs());
    EXPECT_THAT(labels(chart), ElementsAre("DDP/", "ZeRO-1/"));
    EXPECT_THAT(names(chart), ElementsAre("512", "1024"));
    EXPECT_THAT(chart.series[0].values, ElementsAre(30, is_missing()));
    EXPECT_THAT(chart.series[1].values, ElementsAre(40, is_missing()));
}

TEST(study_chart, lines_run_over_positions_and_leave_out_what_never_ran) {
    const Chart chart = study_chart(figure(Arrangement::lines, ChartKind::lines), throughputs());
    EXPECT_THAT(chart.positions, ElementsAre(512, 1024));
    EXPECT_THAT(names(chart), ElementsAre("DDP"));
    EXPECT_THAT(chart.series[0].values, ElementsAre(30, 40));
}

TEST(study_chart, needs_something_to_show) {
    EXPECT_TRUE(has_values(rows()));
    EXPECT_FALSE(has_values({{2, {"", none, "does not fit"}}}));
    EXPECT_FALSE(has_values({{0, {"all-gather", 0}}}));
    EXPECT_FALSE(has_values({}));
}

}  // namespace
}  // namespace weft
