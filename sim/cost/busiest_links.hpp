// The links that bound the rate of a phase. Of the many that it loads few do: the passes over them leave out early what
// another link bounds more tightly.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cost/link_loads.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

struct Line {
    double at_zero = 0.0, slope = 0.0;
    double at(double q) const { return at_zero + slope * q; }
};

// Of equals the one that rises most; where rounding makes those equal, the one that begins highest: the order of lines
// decides nothing.
inline const Line& highest(std::span<const Line> lines, double q) {
    return *std::max_element(lines.begin(), lines.end(), [&](const Line& a, const Line& b) {
        if (a.at(q) != b.at(q)) return a.at(q) < b.at(q);
        return a.slope != b.slope ? a.slope < b.slope : a.at_zero < b.at_zero;
    });
}

// The height of the lowest point. Of two lines that reach the envelope left and right of it, the crossing is never
// above it; the line that is highest there replaces one of them. Crossings only rise, which rounding must not undo.
inline double lowest_height(std::span<const Line> lines) {
    Line left = highest(lines, 0.0), right = highest(lines, 1.0);
    if (left.slope >= 0.0) return left.at(0.0);
    if (right.slope <= 0.0) return right.at(1.0);
    for (double height = -1.0;;) {
        const double q = (left.at_zero - right.at_zero) / (right.slope - left.slope);
        const double crossing = std::max(left.at(q), right.at(q));
        if (crossing <= height) return height;
        height = crossing;
        const Line& top = highest(lines, q);
        if (top.slope == 0.0 || top.at(q) <= crossing) return top.at(q);
        (top.slope < 0.0 ? left : right) = top;
    }
}

// Of the upper envelope of straight lines: the smallest q in [0, 1] at which the highest of the lines is as low as it
// gets, but for lines that begin less than a millionth above that: lines that rounding alone makes fall would ask for
// all of it. `lines` is not empty, and no line is negative in [0, 1].
inline double lowest_point(std::span<const Line> lines) {
    constexpr double worth_it = 1e-6;
    const double height = lowest_height(lines);
    double q = 0.0;  // where the last falling line has come down to that height
    for (const Line& line : lines) {
        if (line.slope < 0.0 && line.at_zero > height * (1.0 + worth_it)) {
            q = std::max(q, (line.at_zero - height) / -line.slope);
        }
    }
    return std::min(q, 1.0);
}

// What a link carries where the share q of the messages that have detours takes them, and how fast.
struct BusyLink {
    LinkLoads::Cell cell{};
    BytesPerSecond bandwidth{std::numeric_limits<double>::infinity()};
    double time(double q) const { return cell.at(q) / bandwidth.value; }  // seconds for one byte of flow
    BytesPerSecond rate(double q) const { return bandwidth / cell.at(q); }
};

inline BytesPerSecond slowest_class(const Topology& topology) {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (const LinkClass& each : topology.classes) least = std::min(least, each.bandwidth);
    return least;
}

// Where no message takes a detour: the busiest of the links that detours could relieve, and of the others.
struct StraightTraffic {
    StraightTraffic(const LinkLoads& loads, const Topology& topology) {
        const double slowest = slowest_class(topology).value;
        double relieved_time = 0.0, other_time = 0.0, least = 0.0;
        LinkLoads::Units negligible = 0;  // less busy than both on any link
        loads.for_each([&](LinkId id, const LinkLoads::Cell& cell) {
            if (cell.straight() <= negligible) return;
            const BytesPerSecond bandwidth = topology.link(id).bandwidth;
            const double time = cell.at(0.0) / bandwidth.value;
            if (time <= least) return;
            // All routes between two ranks use the same links inside nodes and at their ports.
            const bool is_relieved = cell[RouteKind::minimal] > 0.0 && topology.joins_switches(id);
            double& most = is_relieved ? relieved_time : other_time;
            if (time <= most) return;
            most = time;
            (is_relieved ? relieved : other) = {cell, bandwidth};
            least = std::min(relieved_time, other_time);
            negligible = LinkLoads::units_within(least * slowest);
        });
    }

    bool may_gain() const { return relieved.time(0.0) > other.time(0.0); }
    BytesPerSecond rate() const { return std::min(relieved.rate(0.0), other.rate(0.0)); }  // of one flow on idle links

    BusyLink relieved, other;
};

// The busiest links at any share.
class BusiestLinks {
  public:
    explicit BusiestLinks(const Topology& topology) : topology_(topology), slowest_(slowest_class(topology)) {}

    void find(const LinkLoads& loads) {
        links_.clear();
        at_zero_ = at_one_ = 0.0;
        straight_ = detoured_ = 0;
        loads.for_each([&](LinkId link, const LinkLoads::Cell& cell) { add(link, cell); });
    }

    // The share of detours that traffic settles on by itself, by the topology's routing, and the rate of one flow on
    // idle links then.
    struct Settled {
        double detoured = 0.0;
        BytesPerSecond rate;
    };
    Settled settle() {
        double share = topology_.routing == Routing::valiant ? 1.0 : 0.0;
        if (topology_.routing == Routing::adaptive) share = best_share();
        return {.detoured = share, .rate = rate(share)};
    }

    // The smallest share that makes the busiest link least busy.
    // Of what is left, only lines that are somewhere above each other one, so that the order of links decides nothing.
    double best_share() {
        if (links_.empty()) return 0.0;
        ends_.clear();
        for (const BusyLink& link : links_) {
            const double minimal = link.cell[RouteKind::minimal], detour = link.cell[RouteKind::detour];
            ends_.emplace_back(link.time(0.0), link.time(1.0), (detour - minimal) / link.bandwidth.value);
        }
        std::ranges::sort(ends_, std::ranges::greater{});
        lines_.clear();
        double most = -1.0;  // at one
        for (const auto& [at_zero, at_one, slope] : ends_) {
            if (at_one <= most) continue;
            most = at_one;
            lines_.push_back({.at_zero = at_zero, .slope = slope});
        }
        return lowest_point(lines_);
    }

    // Of one flow on idle links.
    BytesPerSecond rate(double share) const {
        BytesPerSecond least{std::numeric_limits<double>::infinity()};
        for (const BusyLink& link : links_) least = std::min(least, link.rate(share));
        return least;
    }

  private:
    // The time of a link, (fixed + (1 - q) minimal + q detour) / bandwidth, is a straight line over q: one that is
    // nowhere above another from q = 0 to 1 bounds nothing. All are held against one line, the highest so far where it
    // is lowest.
    void add(LinkId id, const LinkLoads::Cell& cell) {
        if (cell.straight() <= straight_ && cell.detoured() <= detoured_) return;
        const BusyLink link{cell, topology_.link(id).bandwidth};
        const double from = link.time(0.0), to = link.time(1.0);
        if (from <= at_zero_ && to <= at_one_) return;
        links_.push_back(link);
        if (std::min(from, to) <= std::min(at_zero_, at_one_)) return;
        at_zero_ = from, at_one_ = to;
        straight_ = LinkLoads::units_within(from * slowest_.value);
        detoured_ = LinkLoads::units_within(to * slowest_.value);
    }

    const Topology& topology_;
    BytesPerSecond slowest_;  // of all links
    std::vector<BusyLink> links_;
    double at_zero_ = 0.0, at_one_ = 0.0;                   // the line that all are held against
    LinkLoads::Units straight_ = 0, detoured_ = 0;          // loads that are below it on any link
    std::vector<std::tuple<double, double, double>> ends_;  // of their lines, and slopes
    std::vector<Line> lines_;
};

}  // namespace weft
