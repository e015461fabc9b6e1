// A page of its own: one file without anything from elsewhere, light and dark, on screen and on paper.
#pragma once

#include <string>
#include <string_view>

namespace weft {

// Around `body`, which is HTML. Tables of class "sortable" are sorted by a click on a heading; an <input> or <select>
// with data-filter="ID" hides the rows of the table ID that lack its value (a <select> looks at the cells of the column
// that its data-column says).
std::string html_page(std::string_view title, std::string_view body);

}  // namespace weft
