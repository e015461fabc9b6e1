#include "tools/output/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tools/output/chart_axis.hpp"
#include "tools/output/svg_text.hpp"

namespace weft {
namespace {

class Picture {
  public:
    explicit Picture(const Chart& chart)
        : chart_(as_shown(chart)),
          range_(value_range(chart_)),
          y_(chart_.y, range_.least, range_.most,
             chart.kind == ChartKind::lines ? AxisEnd::tight : AxisEnd::room_below),
          frame_(chart_frame(chart_, y_.ticks())) {}

    std::string draw() {
        head();
        legend();
        y_axis();
        if (chart_.kind == ChartKind::lines) {
            lines();
        } else {
            bars();
            categories();
        }
        svg_.add(R"(<path class="axis" d="M{:.1f} {:.1f}h{:.1f}"/>)", frame_.left, frame_.bottom(), frame_.width);
        svg_.put("</svg>\n");
        return svg_.take();
    }

  private:
    SeriesLook look(std::size_t series) const { return {series, chart_.series[series].look}; }

    void head() {
        svg_.put(svg_head(frame_.page_width, frame_.page_height, chart_.title.empty() ? "Chart" : chart_.title));
        svg_.put(
            "<style>\ntext{font:12px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#30363d}"
            ".title{font-size:17px;font-weight:600}.note{fill:#59616a}.small{font-size:10px}"
            ".grid{stroke:#e3e7eb}.axis{stroke:#59616a}\n</style>\n");
        svg_.add(R"(<rect width="{}" height="{}" fill="#fff"/>)", frame_.page_width, frame_.page_height);
        svg_.add(R"(<text class="title" x="{}" y="34">{}</text>)", ChartFrame::margin, xml_escaped(chart_.title));
        if (!chart_.subtitle.empty()) {
            svg_.add(R"(<text class="note" x="{}" y="54">{}</text>)", ChartFrame::margin, xml_escaped(chart_.subtitle));
        }
    }

    void legend() {
        for (std::size_t s = 0; s < chart_.series.size(); ++s) {
            const auto [x, y] = frame_.legend[s];
            if (chart_.kind == ChartKind::lines) {
                svg_.put(line_mark(look(s), fmt::format("M{:.1f} {:.1f}h20", x, y - 4)));
                svg_.put(point_mark(look(s), x + 10, y - 4, ""));
            } else {
                svg_.add(R"(<rect x="{:.1f}" y="{:.1f}" width="12" height="12" rx="2" {}/>)", x + 4, y - 10,
                         bar_fill(look(s)));
            }
            svg_.add(R"(<text class="legend" x="{:.1f}" y="{:.1f}">{}</text>)", x + 26, y,
                     xml_escaped(chart_.series[s].name));
        }
    }

    void y_axis() {
        for (const ChartTick& tick : y_.ticks()) {
            const double y = frame_.y(y_.place(tick.value));
            svg_.add(R"(<path class="grid" d="M{:.1f} {:.1f}h{:.1f}"/>)", frame_.left, y, frame_.width);
            svg_.add(R"(<text class="note" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", frame_.left - 8, y + 4,
                     tick.label);
        }
        if (!chart_.y.title.empty()) {
            svg_.add(R"svg(<text transform="translate({:.1f} {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
                     ChartFrame::margin + 6, frame_.top + frame_.height / 2, xml_escaped(chart_.y.title));
        }
        if (!chart_.x.title.empty()) {
            svg_.add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", frame_.left + frame_.width / 2,
                     frame_.x_title_y, xml_escaped(chart_.x.title));
        }
    }

    // What a pointer over a mark is told.
    std::string hint(std::size_t series, std::size_t point) const {
        const std::string where = chart_.kind == ChartKind::lines ? axis_value(chart_.x, chart_.positions[point])
                                                                  : chart_.categories[point].label;
        return fmt::format("<title>{}, {}: {}</title>", xml_escaped(chart_.series[series].name), xml_escaped(where),
                           axis_value(chart_.y, chart_.series[series].values[point]));
    }

    void bar(std::size_t series, std::size_t point, double x, double width, double from, double to) {
        const double top = frame_.y(to), bottom = frame_.y(from);
        svg_.add(R"(<rect class="bar s{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" {}>{}</rect>)", series,
                 x, top, width, bottom - top, bar_fill(look(series)), hint(series, point));
    }

    void cross(double x) {
        svg_.add(R"(<path class="axis" d="M{:.1f} {:.1f}l6 6m0 -6l-6 6"><title>none</title></path>)", x - 3,
                 frame_.bottom() - 10);
    }

    void bars() {
        const std::size_t count = stacked(chart_.kind) ? 1 : chart_.series.size();
        for (std::size_t c = 0; c < chart_.categories.size(); ++c) {
            const ChartSlot slot = frame_.slots[c];
            const double width = std::min(0.8 * slot.width / static_cast<double>(count), 72.0);
            double x = slot.centre - width * static_cast<double>(count) / 2;
            double below = 0;
            bool any = false;
            for (std::size_t s = 0; s < chart_.series.size(); ++s) {
                const double value = chart_.series[s].values[c];
                const bool there = !std::isnan(value);
                any = any || there;
                if (stacked(chart_.kind)) {
                    if (there && value > 0) bar(s, c, x, width, y_.place(below), y_.place(below + value));
                    below += there ? value : 0;
                    continue;
                }
                if (!there) {
                    cross(x + width / 2);
                } else if (drawable(chart_.y, value)) {
                    bar(s, c, x + 0.5, width - 1, 0, y_.place(value));
                    number(x + width / 2, width, value);
                }
                x += width;
            }
            if (stacked(chart_.kind) && !any) cross(slot.centre);
            if (chart_.kind == ChartKind::stacked_bars && any) number(slot.centre, slot.width, below);
        }
    }

    // The value above a bar, where there is room.
    void number(double x, double room, double value) {
        const std::string text = axis_value(chart_.y, value);
        if (text_width(text, 10) > room - 2) return;
        svg_.add(R"(<text class="small" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x,
                 frame_.y(y_.place(value)) - 4, text);
    }

    void categories() {
        const std::vector<ChartCategory>& all = chart_.categories;
        for (std::size_t c = 0; c < all.size(); ++c) {
            const double x = frame_.slots[c].centre, y = frame_.bottom() + 16;
            if (frame_.label_angle == 0) {
                svg_.add(R"(<text class="category" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x, y,
                         xml_escaped(all[c].label));
            } else {
                svg_.add(
                    R"svg(<text class="category" transform="translate({:.1f} {:.1f}) rotate({})" text-anchor="end">{}</text>)svg",
                    x + 4, y - 2, -frame_.label_angle, xml_escaped(all[c].label));
            }
        }
        if (!frame_.has_groups) return;
        const double y = frame_.bottom() + frame_.label_height + 4;
        for (std::size_t c = 0; c < all.size();) {
            const std::size_t first = c;
            while (c < all.size() && all[c].group == all[first].group) ++c;
            if (all[first].group.empty()) continue;
            const double half = frame_.slots[first].width / 2 - 3;
            const double from = frame_.slots[first].centre - half, to = frame_.slots[c - 1].centre + half;
            svg_.add(R"(<path class="grid" d="M{:.1f} {:.1f}h{:.1f}" style="stroke:#8a929b"/>)", from, y, to - from);
            svg_.add(R"(<text class="group" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", (from + to) / 2,
                     y + 16, xml_escaped(all[first].group));
        }
    }

    void lines() {
        const AxisMap x_axis(chart_.x, chart_.positions.front(), chart_.positions.back(), AxisEnd::tight);
        for (const ChartTick& tick : x_axis.ticks()) {
            const double x = frame_.x(x_axis.place(tick.value));
            svg_.add(R"(<path class="grid" d="M{:.1f} {:.1f}v{:.1f}"/>)", x, frame_.top, frame_.height);
            svg_.add(R"(<text class="note" x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x,
                     frame_.bottom() + 19, tick.label);
        }
        for (std::size_t s = 0; s < chart_.series.size(); ++s) {
            std::string path;
            bool joined = false;
            for (std::size_t i = 0; i < chart_.positions.size(); ++i) {
                const double value = chart_.series[s].values[i];
                if (drawable(chart_.y, value)) {
                    fmt::format_to(std::back_inserter(path), "{}{:.2f} {:.2f}", joined ? 'L' : 'M',
                                   frame_.x(x_axis.place(chart_.positions[i])), frame_.y(y_.place(value)));
                }
                joined = drawable(chart_.y, value);
            }
            svg_.put(line_mark(look(s), path));
            for (std::size_t i = 0; i < chart_.positions.size(); ++i) {
                const double value = chart_.series[s].values[i];
                if (!drawable(chart_.y, value)) continue;
                svg_.put(point_mark(look(s), frame_.x(x_axis.place(chart_.positions[i])), frame_.y(y_.place(value)),
                                    hint(s, i)));
            }
        }
    }

    Chart chart_;
    ValueRange range_;
    AxisMap y_;
    ChartFrame frame_;
    MarkupText svg_;
};

}  // namespace

std::string chart_svg(const Chart& chart) { return Picture(chart).draw(); }

}  // namespace weft
