#include "tools/output/chart_marks.hpp"

#include <fmt/format.h>

#include <array>

namespace weft {
namespace {

// Okabe and Ito's palette for all kinds of colour vision (2008), less its yellow and black, which are poor on white
// beside text, and with a dark and a grey tone.
constexpr std::array<std::string_view, 8> palette{"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                  "#cc79a7", "#56b4e9", "#332288", "#8a8a8a"};

std::string_view colour(SeriesLook look) { return palette[look.index % palette.size()]; }
bool hollow(SeriesLook look) { return look.look == ChartSeries::Look::reference; }

}  // namespace

std::string bar_fill(SeriesLook look) {
    if (!hollow(look)) return fmt::format(R"(fill="{}")", colour(look));
    return fmt::format(R"(fill="#fff" stroke="{}" stroke-width="1.5" stroke-dasharray="3 2")", colour(look));
}

std::string line_mark(SeriesLook look, std::string_view path_data) {
    return fmt::format("<path class=\"line s{}\" d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n",
                       look.index, path_data, colour(look), hollow(look) ? " stroke-dasharray=\"6 4\"" : "");
}

std::string point_mark(SeriesLook look, double x, double y, std::string_view inside) {
    // A disc, square, triangle or diamond, so that lines differ in more than colour.
    constexpr std::array<std::string_view, 4> shapes{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "m-3.5 -3.5h7v7h-7z",
                                                     "m0 -5l4.5 8h-9z", "m0 -5l5 5l-5 5l-5 -5z"};
    return fmt::format("<path class=\"mark s{}\" d=\"M{:.2f} {:.2f}{}\" fill=\"{}\" stroke=\"{}\">{}</path>\n",
                       look.index, x, y, shapes[look.index % shapes.size()], hollow(look) ? "#fff" : colour(look),
                       colour(look), inside);
}

}  // namespace weft
