// Pages and the pieces of HTML that they are made of.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/result_table.hpp"
#include "tools/output/svg_text.hpp"

namespace weft {

using HtmlText = MarkupText;

// Bars behind a column of a table; those of the first rows, in one unit. The largest of all reaches its edge.
struct HtmlBars {
    std::size_t behind = 0;
    std::vector<std::int64_t> values;
};

// The columns that people see; the first cell of a row is its heading. Sortable, if there are numbers in it: script
// "table".
std::string html_table(std::string_view caption, const ResultTable& table, const std::vector<HtmlBars>& bars = {});

// A headline figure.
struct HtmlCard {
    std::string_view name;
    std::string figure, note;  // HTML
};
std::string html_cards(std::span<const HtmlCard> cards, std::string_view classes = "cards");

// The command that made a page, which breaks between its words alone.
std::string html_made_by(std::string_view command);

// A part of a page with a heading of its own, and what leads to it.
struct HtmlSection {
    std::string id;
    std::string_view link, title;
    std::string html;
};
std::string html_links(std::span<const HtmlSection> sections);
std::string html_sections(std::span<const HtmlSection> sections);

std::string html_items(std::span<const std::string> texts);  // of a list

// Behind a line that opens it.
std::string html_details(std::string_view summary, std::string_view html);

// A page of its own: one file without anything from elsewhere, light and dark, on screen and on paper.
enum class ChartLibrary : std::uint8_t { absent, embedded };  // tools/page/vendor

struct Page {
    std::string title;
    std::string body;    // HTML, below the title
    std::string data{};  // a JSON document for the scripts, which find it as `data`; empty: none
    std::vector<std::string_view> scripts{"table"};  // of tools/page/*.js, in the order in which they run
    std::vector<std::string_view> styles{};          // of tools/page/*.css, beside that of every page
    ChartLibrary charts = ChartLibrary::absent;      // embedded with its licence
};

// Tables of class "sortable" are sorted by a click on a heading. LogicError for a script that there is none of.
std::string html_page(const Page& page);

}  // namespace weft
