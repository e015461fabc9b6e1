#include "tools/output/timeline_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "tools/output/chart.hpp"
#include "tools/output/svg_text.hpp"

namespace weft {
namespace {

// In pixels.
constexpr double width = 1200, margin = 24, row_pitch = 34, compute_height = 18, communication_height = 6;
constexpr double header_height = 74, axis_height = 44;
constexpr std::size_t most_rows = 24;
constexpr std::size_t finest_bins = 1024, most_runs = 8000;  // about a pixel each

struct Look {
    Activity activity;
    std::string_view name, light, dark;
};
constexpr std::array<Look, activities> looks{{
    {Activity::forward, "forward", "#3b7dc4", "#5b9be0"},
    {Activity::backward, "backward", "#e0872f", "#e8994d"},
    {Activity::weights, "weights", "#a85f14", "#b8732a"},
    {Activity::recompute, "recompute", "#8fb8e0", "#3f6a99"},
    {Activity::optimizer, "optimizer", "#4c9a5b", "#63b374"},
    {Activity::other, "other", "#8b8f96", "#8b8f96"},
    {Activity::communication, "communication", "#b03a76", "#d8629c"},
}};

struct Unit {
    double seconds;
    std::string_view name;
};
Unit unit_for(double seconds) {
    for (const Unit unit : {Unit{1.0, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}}) {
        if (seconds >= unit.seconds) return unit;
    }
    return {1e-9, "ns"};
}

std::vector<RankClassId> evenly_chosen(const Program& program, const TimelineSvgOptions& options) {
    std::vector<RankClassId> chosen;
    const std::size_t classes = options.classes.empty() ? program.classes.size() : options.classes.size();
    const std::size_t count = std::min(classes, most_rows);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = i * classes / count;
        chosen.push_back(options.classes.empty() ? RankClassId(static_cast<std::uint32_t>(at)) : options.classes[at]);
    }
    return chosen;
}

class Picture {
  public:
    Picture(const Program& program, const Timeline& timeline, const TimelineSvgOptions& options)
        : program_(program), timeline_(timeline), options_(options), chosen_(evenly_chosen(program, options)) {
        std::size_t longest = 0;
        for (const RankClassId c : chosen_) longest = std::max(longest, program.classes[c].name.size());
        left_ = margin + std::min(16.0 + 7.0 * static_cast<double>(longest), 200.0);
        rasterise();
    }

    std::string draw() {
        head();
        axis();
        for (std::size_t row = 0; row < rows_.size(); ++row) draw_row(row);
        svg_.put("</svg>\n");
        return svg_.take();
    }

  private:
    double plot_width() const { return width - margin - left_; }
    double rows_height() const { return row_pitch * static_cast<double>(rows_.size()); }

    // The finest bins whose runs stay few.
    void rasterise() {
        for (bins_ = finest_bins;; bins_ /= 2) {
            rows_.clear();
            std::size_t runs = 0;
            for (const RankClassId c : chosen_) {
                rows_.push_back(activity_row(program_, timeline_, c, bins_));
                runs += rows_.back().compute.size() + rows_.back().communication.size();
            }
            if (runs <= most_runs || bins_ <= 64) return;
        }
    }

    void head() {
        const double height = header_height + rows_height() + axis_height;
        svg_.put(svg_head(width, height, options_.title.empty() ? "Timeline" : options_.title));
        style();
        svg_.add(R"(<rect class="page" width="{}" height="{}" rx="8"/>)", width, height);
        svg_.add(R"(<text class="title" x="{}" y="32">{}</text>)", margin, xml_escaped(options_.title));
        const bool has_all = rows_.size() == program_.classes.size();
        svg_.add(R"(<text class="note" x="{}" y="54">{}</text>)", margin,
                 has_all ? "" : fmt::format("{} of {} rank classes", rows_.size(), program_.classes.size()));
        legend();
    }

    void style() {
        svg_.put(
            "<style>\ntext{font:12px system-ui,sans-serif;fill:#30363d}.title{font-size:17px;font-weight:600}"
            ".note{fill:#68707a}.page{fill:#fff}.lane{fill:#eef1f4}.grid{stroke:#d5dade}\n");
        for (const Look& look : looks) svg_.add(".k{}{{fill:{}}}", static_cast<int>(look.activity), look.light);
        svg_.put(
            "@media (prefers-color-scheme:dark){\ntext{fill:#d7dde4}.note{fill:#949ea9}.page{fill:#12161c}"
            ".lane{fill:#1d232b}.grid{stroke:#333b45}\n");
        for (const Look& look : looks) svg_.add(".k{}{{fill:{}}}", static_cast<int>(look.activity), look.dark);
        svg_.put("}\n</style>\n");
    }

    bool occurs(Activity activity) const {
        const auto is_it = [&](const ActivityRun& run) { return run.activity == activity; };
        return std::any_of(rows_.begin(), rows_.end(), [&](const ActivityRow& row) {
            return std::any_of(row.compute.begin(), row.compute.end(), is_it) ||
                   std::any_of(row.communication.begin(), row.communication.end(), is_it);
        });
    }

    // From the right, in line with the title.
    void legend() {
        double x = width - margin;
        for (auto look = looks.rbegin(); look != looks.rend(); ++look) {
            if (!occurs(look->activity)) continue;
            x -= 7.0 * static_cast<double>(look->name.size()) + 14.0;
            svg_.add(R"(<rect class="k{}" x="{:.0f}" y="46" width="10" height="10" rx="2"/>)"
                     R"(<text class="note" x="{:.0f}" y="55">{}</text>)",
                     static_cast<int>(look->activity), x, x + 15.0, look->name);
            x -= 14.0;
        }
    }

    void axis() {
        const double length = since_start(timeline_.end).value;
        if (length <= 0.0) return;
        const Unit unit = unit_for(length);
        const double step = tick_step(length, 10);
        const double bottom = header_height + rows_height();
        for (int tick = 0; tick * step <= length * (1.0 + 1e-12); ++tick) {
            const double x = left_ + plot_width() * (tick * step / length);
            svg_.add(
                R"(<path class="grid" d="M{0:.1f} {1}V{2}"/><text class="note" x="{0:.1f}" y="{3}" text-anchor="middle">)"
                R"({4:.4g} {5}</text>)",
                x, header_height - 6.0, bottom + 4.0, bottom + 20.0, tick * step / unit.seconds, unit.name);
        }
    }

    void draw_row(std::size_t row) {
        const double y = header_height + row_pitch * static_cast<double>(row);
        svg_.add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", left_ - 10.0, y + 14.0,
                 xml_escaped(program_.classes[chosen_[row]].name));
        strip(rows_[row].compute, y, compute_height);
        strip(rows_[row].communication, y + compute_height + 1.0, communication_height);
    }

    // One path per activity and level, in units of bins.
    void strip(const std::vector<ActivityRun>& runs, double y, double height) {
        svg_.add(R"(<rect class="lane" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>)", left_, y, plot_width(),
                 height);
        if (runs.empty()) return;
        svg_.add(R"svg(<g transform="translate({:.1f} {}) scale({:.6f} 1)">)svg", left_, y,
                 plot_width() / static_cast<double>(bins_));
        for (const Look& look : looks) {
            for (std::uint8_t level = 1; level <= ActivityRun::full; ++level) {
                std::string path;
                for (const ActivityRun& run : runs) {
                    if (run.activity != look.activity || run.level != level) continue;
                    fmt::format_to(std::back_inserter(path), "M{} 0h{}v{}h-{}z", run.first, run.length, height,
                                   run.length);
                }
                if (path.empty()) continue;
                svg_.add(R"(<path class="k{}" opacity="{}" d="{}"/>)", static_cast<int>(look.activity),
                         static_cast<double>(level) / ActivityRun::full, path);
            }
        }
        svg_.add("</g>");
    }

    const Program& program_;
    const Timeline& timeline_;
    const TimelineSvgOptions& options_;
    std::vector<RankClassId> chosen_;
    std::vector<ActivityRow> rows_;  // of chosen_
    std::size_t bins_ = finest_bins;
    double left_ = margin;
    MarkupText svg_;
};

using Filling = std::array<double, activities>;  // of one bin, by activity; 1: the whole bin

// Adds the part of each bin that [begin, end) covers; both in bins.
void cover(std::vector<Filling>& bins, Activity activity, double begin, double end) {
    for (auto bin = static_cast<std::size_t>(begin); bin < bins.size() && static_cast<double>(bin) < end; ++bin) {
        const auto left = static_cast<double>(bin);
        bins[bin][static_cast<std::size_t>(activity)] += std::min(end, left + 1.0) - std::max(begin, left);
    }
}

std::vector<ActivityRun> runs_of(const std::vector<Filling>& bins) {
    std::vector<ActivityRun> runs;
    for (std::size_t bin = 0; bin < bins.size(); ++bin) {
        const Filling& filling = bins[bin];
        const auto main = static_cast<Activity>(std::max_element(filling.begin(), filling.end()) - filling.begin());
        const auto filled = sum_of<double>(filling, [&](const double part) { return part; });
        const long level = std::min<long>(std::lround(filled * ActivityRun::full), ActivityRun::full);
        if (level == 0) continue;
        const ActivityRun one{bin, 1, main, static_cast<std::uint8_t>(level)};
        ActivityRun* const last = runs.empty() ? nullptr : &runs.back();
        if (last && last->first + last->length == bin && last->activity == one.activity && last->level == one.level) {
            ++last->length;
        } else {
            runs.push_back(one);
        }
    }
    return runs;
}

}  // namespace

std::string timeline_svg(const Program& program, const Timeline& timeline, const TimelineSvgOptions& options) {
    return Picture(program, timeline, options).draw();
}

Activity activity_of(const Program& program, const Op& op) {
    if (op.kind == OpKind::exchange) return Activity::communication;
    const std::string_view label = program.labels[index(op.label)];
    if (label.starts_with("forward")) return Activity::forward;
    if (label.starts_with("backward")) {
        return label.find("weight") != std::string_view::npos ? Activity::weights : Activity::backward;
    }
    if (label.starts_with("recompute")) return Activity::recompute;
    if (label.starts_with("optimizer")) return Activity::optimizer;
    return Activity::other;
}

ActivityRow activity_row(const Program& program, const Timeline& timeline, RankClassId rank_class, std::size_t bins) {
    std::vector<Filling> compute(bins), communication(bins);
    const double per_tick =
        static_cast<double>(bins) / static_cast<double>(std::max<std::int64_t>(timeline.end.femtoseconds, 1));
    const RankClass& ops = program.classes[rank_class];
    for (std::uint32_t i = ops.first_op; i < ops.first_op + ops.ops; ++i) {
        const Op& op = program.ops[OpId(i)];
        if (op.kind == OpKind::join) continue;
        const Span& span = timeline.spans[OpId(i)];
        cover(op.kind == OpKind::exchange ? communication : compute, activity_of(program, op),
              static_cast<double>(span.begin.femtoseconds) * per_tick,
              static_cast<double>(span.end.femtoseconds) * per_tick);
    }
    return {runs_of(compute), runs_of(communication)};
}

}  // namespace weft
