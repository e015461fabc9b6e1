#include "tools/output/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/output/chart_axis.hpp"
#include "tools/output/svg_text.hpp"

namespace weft {
namespace {

constexpr double width = 450, height = 410, left = 76, top = 12, side = 340;
constexpr double band = 0.1;
constexpr std::size_t most_labels = 6;  // that stand side by side

bool drawn(const ScatterPoint& point) {
    return std::isfinite(point.measured) && std::isfinite(point.predicted) && point.measured > 0 && point.predicted > 0;
}

class ScatterPicture {
  public:
    ScatterPicture(const Scatter& scatter, double least, double most)
        : scatter_(scatter),
          axis_({.title = "", .unit = scatter.unit, .scale = AxisScale::log10, .floor = 0}, least, most,
                AxisEnd::tight) {}

    std::string draw() {
        svg_.put(svg_head(width, height, scatter_.title, SvgSize::of_page));
        lines();
        ticks();
        for (const ScatterPoint& point : scatter_.points) {
            if (drawn(point)) mark(point);
        }
        svg_.put("</svg>\n");
        return svg_.take();
    }

  private:
    double x(double value) const { return left + side * axis_.place(value); }
    double y(double value) const { return top + side * (1 - axis_.place(value)); }

    // The band follows the line to the corners of the square, where it is cut.
    void lines() {
        const double low = axis_.ticks().front().value, high = axis_.ticks().back().value;
        svg_.add(R"(<rect class="frame" x="{}" y="{}" width="{}" height="{}"/>)", left, top, side, side);
        svg_.add(R"(<path class="band" d="M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}V{:.1f}L{:.1f} {:.1f}H{:.1f}Z"/>)", x(low),
                 y(low * (1 + band)), x(high / (1 + band)), y(high), x(high), y(high * (1 - band)), x(low / (1 - band)),
                 y(low), x(low));
        svg_.add(R"(<path class="identity" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>)", x(low), y(low), x(high), y(high));
    }

    void ticks() {
        const std::size_t ticks = axis_.ticks().size(), every = ticks / most_labels + 1;
        for (std::size_t i = 0; i < ticks; ++i) {
            const ChartTick& tick = axis_.ticks()[i];
            svg_.add(R"(<path class="grid" d="M{:.1f} {}v{}M{} {:.1f}h{}"/>)", x(tick.value), top, side, left,
                     y(tick.value), side);
            if (i % every != 0) continue;
            svg_.add(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", x(tick.value), top + side + 18,
                     tick.label);
            svg_.add(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", left - 8, y(tick.value) + 4, tick.label);
        }
        svg_.add(R"(<text x="{}" y="{}" text-anchor="middle">measured</text>)", left + side / 2, top + side + 42);
        svg_.add(R"svg(<text transform="translate(16 {}) rotate(-90)" text-anchor="middle">predicted</text>)svg",
                 top + side / 2);
    }

    void mark(const ScatterPoint& point) {
        const double across = x(point.measured), up = y(point.predicted);
        const std::string hint = xml_escaped(point.hint);
        if (point.mark == ScatterPoint::Mark::predict) {
            svg_.add(R"(<circle class="predict" cx="{:.1f}" cy="{:.1f}" r="3.2"><title>{}</title></circle>)", across,
                     up, hint);
        } else {
            svg_.add(R"(<path class="fit" d="M{:.1f} {:.1f}l4.2 4.2l-4.2 4.2l-4.2 -4.2Z"><title>{}</title></path>)",
                     across, up - 4.2, hint);
        }
    }

    const Scatter& scatter_;
    AxisMap axis_;
    MarkupText svg_;
};

}  // namespace

std::string scatter_svg(const Scatter& scatter) {
    double least = INFINITY, most = 0;
    for (const ScatterPoint& point : scatter.points) {
        if (!drawn(point)) continue;
        least = std::min({least, point.measured, point.predicted});
        most = std::max({most, point.measured, point.predicted});
    }
    return most > 0 ? ScatterPicture(scatter, least, most).draw() : "";
}

}  // namespace weft
