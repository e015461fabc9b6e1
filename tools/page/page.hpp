// A page of its own: one file without anything from elsewhere, light and dark, on screen and on paper.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

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
