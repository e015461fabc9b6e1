// How a series of a chart looks: its colour, and the shape of its points.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/output/chart.hpp"

namespace weft {

struct SeriesLook {
    std::size_t index;  // of the series
    ChartSeries::Look look;
};

std::string bar_fill(SeriesLook look);                               // attributes of a rectangle
std::string line_mark(SeriesLook look, std::string_view path_data);  // an element, with its end of line
// An element around (x, y); `inside` is its content.
std::string point_mark(SeriesLook look, double x, double y, std::string_view inside);

}  // namespace weft
