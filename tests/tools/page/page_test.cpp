#include "tools/page/html.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/base/check.hpp"

namespace weft {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++n;
    return n;
}

// What stands between the tags of the data block.
std::string data_of(const std::string& page) {
    const std::string begin = "<script type=\"application/json\" id=\"data\">";
    const std::size_t from = page.find(begin) + begin.size();
    return page.substr(from, page.find("</script>", from) - from);
}

TEST(page, data_cannot_end_its_element_and_comes_back_as_it_was) {
    const nlohmann::json json{{"name", "</script><!-- <script> & \u2028 \\u003c"}};
    const std::string page = html_page({.title = "t", .body = "", .data = json.dump()});
    EXPECT_EQ(nlohmann::json::parse(data_of(page)), json);
    EXPECT_EQ(count(page, "</script>"), 2u);
    EXPECT_EQ(count(page, "<!--"), 0u);
}

TEST(page, escapes_its_title) {
    const std::string page = html_page({.title = "a <b> & \"c\"", .body = "<p>body</p>"});
    EXPECT_EQ(count(page, "a &lt;b&gt; &amp; &quot;c&quot;"), 2u);
    EXPECT_EQ(count(page, "<p>body</p>"), 1u);
    EXPECT_EQ(count(page, "id=\"data\""), 0u);
}

TEST(page, carries_the_licence_of_the_chart_library_with_it) {
    const Page page{.title = "t", .body = "", .data = "{}", .charts = ChartLibrary::embedded};
    EXPECT_EQ(count(html_page(page), "Permission is hereby granted, free of charge"), 1u);
    EXPECT_EQ(count(html_page(page), "var uPlot="), 1u);
    EXPECT_EQ(count(html_page({.title = "t", .body = ""}), "uPlot"), 0u);
}

TEST(page, asks_for_nothing_from_elsewhere) {
    const std::string page =
        html_page({.title = "t",
                   .body = "",
                   .data = "{}",
                   .scripts = {"table", "format", "theme", "chart", "timeline_view", "timeline_lanes",
                               "timeline_drawing", "timeline", "heat_map", "result_table"},
                   .charts = ChartLibrary::embedded});
    for (const char* loading : {" src=", "@import", "url(", "<link rel=\"stylesheet", "fetch(", "XMLHttpRequest"}) {
        EXPECT_EQ(count(page, loading), 0u) << loading;
    }
}

TEST(page, knows_its_scripts) {
    const Page page{.title = "t", .body = "", .scripts = {"no such script"}};
    EXPECT_THROW(html_page(page), LogicError);
}

TEST(html_table, escapes_texts_and_sorts_by_values) {
    const ResultTable times{.columns = {{.name = "", .unit = "", .meaning = "", .heading = "<<name>"},
                                        {.name = "time_s", .unit = "", .meaning = "", .heading = "time"}},
                            .rows = {{std::string("<x>"), 1.5}}};
    const std::string table = html_table("a & b", times);
    EXPECT_EQ(count(table, "<caption>a &amp; b</caption>"), 1u);
    EXPECT_EQ(count(table, "<th scope=\"row\">&lt;x&gt;</th>"), 1u);
    EXPECT_EQ(count(table, "<td class=\"number\" data-value=\"1.5\">1.5</td>"), 1u);
    EXPECT_EQ(count(table, "<button type=\"button\">&lt;name&gt;</button>"), 1u);
}

TEST(html_table, of_a_text_has_bars_where_it_is_told_and_the_largest_reaches_an_edge) {
    TextTable text({"<name", "more", "rest"});
    text.add({"a", "-2", "x"});
    text.add({"b", "+1", "y"});
    text.add({"sum", "-1", "z"});
    const std::string table = html_table("", text, {{1, {-200, 100}}});
    EXPECT_EQ(count(table, "left:0.00%;width:50.00%;background:var(--good)"), 1u);
    EXPECT_EQ(count(table, "left:50.00%;width:25.00%;background:var(--bad)"), 1u);
    EXPECT_EQ(count(table, "<td class=\"number\">-1</td><td></td><td class=\"number\">z</td>"), 1u);
    EXPECT_EQ(count(table, "class=\"number\">more</th>\n<td></td>"), 1u);
}

}  // namespace
}  // namespace weft
