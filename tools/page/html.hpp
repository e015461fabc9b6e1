// Pages and the pieces of HTML that they are made of.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/output/result_table.hpp"
#include "tools/output/svg_text.hpp"

namespace weft {

using HtmlText = MarkupText;

struct HtmlColumn {
    std::string_view heading;
    // bar: of its value, from -1 (a saving, to the left) to 1; none without a value
    enum class Kind : std::uint8_t { text, number, bar } kind = Kind::number;
};

struct HtmlCell {
    std::string text;               // not escaped yet
    std::optional<double> value{};  // by which it is sorted; absent: by its text
};

// Of a quantity with its unit.
template <class Quantity>
HtmlCell html_cell(Quantity value) {
    return {to_text(value), value.value};
}

enum class HtmlOrder : std::uint8_t { fixed, sortable };  // sortable: script "table"

// The first cell of a row is its heading. Every row has as many cells as there are columns.
std::string html_table(std::string_view caption, const std::vector<HtmlColumn>& columns,
                       const std::vector<std::vector<HtmlCell>>& rows, HtmlOrder order = HtmlOrder::fixed);

// Bars behind a column of a table; those of the first rows, in one unit. The largest of all reaches its edge.
struct HtmlBars {
    std::size_t behind = 0;
    std::vector<std::int64_t> values;
};

// What texts show as a table.
std::string html_table(std::string_view caption, const TextTable& table, const std::vector<HtmlBars>& bars = {});

// A column and what it shows of a row.
template <class Row>
struct HtmlField {
    std::string_view heading;
    std::function<HtmlCell(const Row&)> cell;
    HtmlColumn::Kind kind = HtmlColumn::Kind::number;
};

template <class Row>
std::string html_table(std::string_view caption, const std::vector<HtmlField<Row>>& fields, const std::vector<Row>& of,
                       HtmlOrder order) {
    std::vector<HtmlColumn> columns;
    for (const HtmlField<Row>& field : fields) columns.push_back({field.heading, field.kind});
    std::vector<std::vector<HtmlCell>> rows;
    for (const Row& row : of) {
        rows.emplace_back();
        for (const HtmlField<Row>& field : fields) rows.back().push_back(field.cell(row));
    }
    return html_table(caption, columns, rows, order);
}

// A headline figure.
struct HtmlCard {
    std::string_view name;
    std::string figure, note;  // HTML
};
std::string html_cards(std::span<const HtmlCard> cards, std::string_view classes = "cards");

// A part of a page with a heading of its own, and what leads to it.
struct HtmlSection {
    std::string id;
    std::string_view link, title;
    std::string html;
};
std::string html_links(std::span<const HtmlSection> sections);
std::string html_sections(std::span<const HtmlSection> sections);

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

// Tables of class "sortable" are sorted by a click on a heading; an <input> or <select> with data-filter="ID" hides the
// rows of the table ID that lack its value (a <select> looks at the cells of the column that its data-column says).
// LogicError for a script that there is none of.
std::string html_page(const Page& page);

}  // namespace weft
