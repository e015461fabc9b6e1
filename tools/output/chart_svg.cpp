#include "tools/output/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "tools/output/svg_text.hpp"

namespace weft {
namespace {

// In pixels.
constexpr double font = 12, margin = 24, row = 20, least_width = 960, lines_height = 340, swatch = 26, gap = 8;
constexpr double legend_gap = 22, bar_gap = 7, value_room = 64;

// Okabe and Ito's palette for all kinds of colour vision (2008), less its yellow and black, which are poor on white
// beside text, and with a dark and a grey tone.
constexpr std::array<std::string_view, 8> palette{"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                                  "#cc79a7", "#56b4e9", "#332288", "#8a8a8a"};

// The width of the widest of some texts.
double widest(const auto& rows, auto text) {
    double width = 0;
    for (const auto& each : rows) width = std::max(width, text_width(std::invoke(text, each), font));
    return width;
}

// Bars lie below each other, so that names of any length stand beside theirs.
class Picture {
  public:
    explicit Picture(const Chart& chart)
        : chart_(as_shown(chart)), values_(value_axis(chart_)), is_lines_(chart_.kind == ChartKind::lines) {
        left_ = margin + gap +
                (is_lines_ ? row + widest(values_.ticks(), &ChartTick::label)
                           : widest(chart_.categories, &ChartCategory::label));
        page_width_ =
            std::ceil(std::max({least_width, left_ + least_width / 2,
                                2 * margin + std::max({text_width(chart_.title, 18), text_width(chart_.subtitle, font),
                                                       widest(chart_.categories, &ChartCategory::group),
                                                       swatch + widest(chart_.series, &ChartSeries::name)})}));
        width_ = page_width_ - left_ - margin - (chart_.kind == ChartKind::grouped_bars ? value_room : margin);
        place_legend();
        is_lines_ ? void(bottom_ = top_ + lines_height) : place_bars();
        page_height_ = std::ceil(bottom_ + 2 * row + margin);
    }

    std::string draw() {
        head();
        legend();
        if (is_lines_) {
            const AxisMap positions(chart_.x, chart_.positions.front(), chart_.positions.back());
            axis_beside();
            axis_below(positions, chart_.x.title);
            lines(positions);
            svg_.add(R"(<path class="axis" d="M{:.1f} {:.1f}h{:.1f}"/>)", left_, bottom_, width_);
        } else {
            axis_below(values_, chart_.y.title);
            bars();
            svg_.add(R"(<path class="axis" d="M{:.1f} {:.1f}V{:.1f}"/>)", left_, top_, bottom_);
        }
        svg_.put("</svg>\n");
        return svg_.take();
    }

  private:
    // In as many rows as its entries need.
    void place_legend() {
        top_ = 60 + (chart_.subtitle.empty() ? 0 : row);
        double x = margin;
        for (const ChartSeries& series : chart_.series) {
            const double width = swatch + text_width(series.name, font);
            if (x > margin && x + width > page_width_ - margin) {
                x = margin;
                top_ += row;
            }
            legend_.emplace_back(x, top_);
            x += width + legend_gap;
        }
        top_ += row + 4;
    }

    bool is_heading(std::size_t category) const {
        const std::vector<ChartCategory>& all = chart_.categories;
        return !all[category].group.empty() && (category == 0 || all[category].group != all[category - 1].group);
    }

    // Where the bars of categories begin, one below the other; below a heading where a group begins.
    void place_bars() {
        const std::size_t beside = chart_.kind == ChartKind::grouped_bars ? chart_.series.size() : 1;
        bar_ = beside == 1 ? 15 : 10;
        if (!chart_.x.title.empty()) top_ += row;
        bottom_ = top_ + bar_gap;
        for (std::size_t c = 0; c < chart_.categories.size(); ++c) {
            if (is_heading(c)) bottom_ += row;
            places_.push_back(bottom_);
            bottom_ += bar_ * static_cast<double>(beside) + bar_gap;
        }
    }

    std::string_view colour(std::size_t series) const { return palette[series % palette.size()]; }
    bool is_hollow(std::size_t series) const { return chart_.series[series].look == ChartSeries::Look::reference; }

    std::string bar_fill(std::size_t series) const {
        if (!is_hollow(series)) return fmt::format(R"(fill="{}")", colour(series));
        return fmt::format(R"(fill="#fff" stroke="{}" stroke-width="1.5" stroke-dasharray="3 2")", colour(series));
    }
    void line(std::size_t series, std::string_view path) {
        svg_.add(R"(<path class="line s{}" d="{}" fill="none" stroke="{}" stroke-width="2"{}/>)", series, path,
                 colour(series), is_hollow(series) ? R"( stroke-dasharray="6 4")" : "");
    }
    // A disc, square, triangle or diamond, so that lines differ in more than colour.
    void mark(std::size_t series, double x, double y, std::string_view inside) {
        constexpr std::array<std::string_view, 4> shapes{"m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "m-3.5 -3.5h7v7h-7z",
                                                         "m0 -5l4.5 8h-9z", "m0 -5l5 5l-5 5l-5 -5z"};
        svg_.add(R"(<path class="mark s{}" d="M{:.2f} {:.2f}{}" fill="{}" stroke="{}">{}</path>)", series, x, y,
                 shapes[series % shapes.size()], is_hollow(series) ? "#fff" : colour(series), colour(series), inside);
    }
    // anchor: "start", "middle" or "end" of the text is at x.
    void text(std::string_view kind, double x, double y, std::string_view anchor, std::string_view words) {
        svg_.add(R"(<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)", kind, x, y, anchor,
                 xml_escaped(words));
    }

    void head() {
        svg_.put(svg_head(page_width_, page_height_, chart_.title.empty() ? "Chart" : chart_.title));
        svg_.put(
            "<style>\ntext{font:12px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#30363d}"
            ".title{font-size:17px;font-weight:600}.group{font-weight:600}.note{fill:#59616a}.small{font-size:10px}"
            ".grid{stroke:#e3e7eb}.axis{stroke:#59616a}\n</style>\n");
        svg_.add(R"(<rect width="{}" height="{}" fill="#fff"/>)", page_width_, page_height_);
        text("title", margin, 34, "start", chart_.title);
        if (!chart_.subtitle.empty()) text("note", margin, 54, "start", chart_.subtitle);
    }

    void legend() {
        for (std::size_t s = 0; s < chart_.series.size(); ++s) {
            const auto [x, y] = legend_[s];
            if (is_lines_) {
                line(s, fmt::format("M{:.1f} {:.1f}h20", x, y - 4));
                mark(s, x + 10, y - 4, "");
            } else {
                svg_.add(R"(<rect x="{:.1f}" y="{:.1f}" width="12" height="12" rx="2" {}/>)", x + 4, y - 10,
                         bar_fill(s));
            }
            text("legend", x + 26, y, "start", chart_.series[s].name);
        }
    }

    void axis_below(const AxisMap& axis, const std::string& title) {
        for (const ChartTick& tick : axis.ticks()) {
            const double at = left_ + width_ * axis.place(tick.value);
            svg_.add(R"(<path class="grid" d="M{:.1f} {:.1f}V{:.1f}"/>)", at, top_, bottom_);
            text("note", at, bottom_ + 17, "middle", tick.label);
        }
        if (!title.empty()) text("axis-title", left_ + width_ / 2, bottom_ + 17 + row, "middle", title);
    }
    void axis_beside() {
        for (const ChartTick& tick : values_.ticks()) {
            svg_.add(R"(<path class="grid" d="M{:.1f} {:.1f}h{:.1f}"/>)", left_, up(tick.value), width_);
            text("note", left_ - gap, up(tick.value) + 4, "end", tick.label);
        }
        svg_.add(R"svg(<text transform="translate({:.1f} {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)svg",
                 margin + 6, (top_ + bottom_) / 2, xml_escaped(chart_.y.title));
    }
    double up(double value) const { return bottom_ - (bottom_ - top_) * values_.place(value); }
    double right(double value) const { return left_ + width_ * values_.place(value); }

    // What a pointer over a mark is told.
    std::string hint(std::size_t series, std::size_t point) const {
        const std::string where =
            is_lines_ ? axis_value(chart_.x, chart_.positions[point]) : chart_.categories[point].label;
        return fmt::format("<title>{}, {}: {}</title>", xml_escaped(chart_.series[series].name), xml_escaped(where),
                           axis_value(chart_.y, chart_.series[series].values[point]));
    }

    void bar(std::size_t series, std::size_t point, double y, double from, double to) {
        svg_.add(R"(<rect class="bar s{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{}" {}>{}</rect>)", series, from,
                 y, to - from, bar_ - 1, bar_fill(series), hint(series, point));
    }
    void cross(double y) {
        svg_.add(R"(<path class="axis" d="M{:.1f} {:.1f}l6 6m0 -6l-6 6"><title>none</title></path>)", left_ + 4,
                 y + bar_ / 2 - 3);
    }

    void bars() {
        text("note", margin, top_ - 4, "start", chart_.x.title);
        for (std::size_t c = 0; c < places_.size(); ++c) {
            const double end = c + 1 < places_.size() ? places_[c + 1] - (is_heading(c + 1) ? row : 0) : bottom_;
            if (is_heading(c)) text("group", margin, places_[c] - 6, "start", chart_.categories[c].group);
            text("category", left_ - gap, (places_[c] + end - bar_gap) / 2 + 4, "end", chart_.categories[c].label);
            chart_.kind == ChartKind::percent_bars ? stacked_bars(c) : bars_of(c);
        }
    }

    void bars_of(std::size_t category) {
        double y = places_[category];
        for (std::size_t s = 0; s < chart_.series.size(); ++s, y += bar_) {
            const double value = chart_.series[s].values[category];
            if (std::isnan(value)) {
                cross(y);
            } else if (drawable(chart_.y, value)) {
                bar(s, category, y, left_, right(value));
                text("small", right(value) + 4, y + bar_ / 2 + 3, "start", axis_value(chart_.y, value));
            }
        }
    }

    void stacked_bars(std::size_t category) {
        double before = 0;
        bool any = false;
        for (std::size_t s = 0; s < chart_.series.size(); ++s) {
            const double value = chart_.series[s].values[category];
            if (std::isnan(value)) continue;
            any = true;
            if (value > 0) bar(s, category, places_[category], right(before), right(before + value));
            before += value;
        }
        if (!any) cross(places_[category]);
    }

    void lines(const AxisMap& positions) {
        const auto x = [&](std::size_t i) { return left_ + width_ * positions.place(chart_.positions[i]); };
        for (std::size_t s = 0; s < chart_.series.size(); ++s) {
            const std::vector<double>& values = chart_.series[s].values;
            std::string path;
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (!drawable(chart_.y, values[i])) continue;
                const bool joined = i > 0 && drawable(chart_.y, values[i - 1]);
                path += fmt::format("{}{:.2f} {:.2f}", joined ? 'L' : 'M', x(i), up(values[i]));
            }
            line(s, path);
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (drawable(chart_.y, values[i])) mark(s, x(i), up(values[i]), hint(s, i));
            }
        }
    }

    Chart chart_;
    AxisMap values_;
    bool is_lines_;
    double page_width_ = 0, page_height_ = 0;
    double left_ = 0, top_ = 0, width_ = 0, bottom_ = 0;  // of the plot
    double bar_ = 0;                                      // the height of one
    std::vector<double> places_;                          // upper ends of categories
    std::vector<std::pair<double, double>> legend_;       // left ends and base lines of its entries
    MarkupText svg_;
};

}  // namespace

std::string chart_svg(const Chart& chart) { return Picture(chart).draw(); }

}  // namespace weft
