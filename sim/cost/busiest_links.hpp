// The links that bound the rate of a phase. Of the many that it loads few do: the passes over them leave out early what
// another link bounds more tightly.
#pragma once

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/cost/link_loads.hpp"
#include "sim/cost/lowest_point.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// What a link carries where the share q of the messages that have detours takes them, and how fast.
struct BusyLink {
    LinkLoads::Cell cell{};
    BytesPerSecond bandwidth{std::numeric_limits<double>::infinity()};
    double time(double q) const { return cell.at(q) / bandwidth.value; }  // seconds for one byte of flow
    BytesPerSecond rate(double q) const { return bandwidth / cell.at(q); }
};

// Where no message takes a detour: the busiest of the links that detours could relieve, and of the others.
struct StraightTraffic {
    StraightTraffic(const LinkLoads& loads, const Topology& topology);

    bool may_gain() const { return relieved.time(0.0) > other.time(0.0); }
    BytesPerSecond rate() const { return std::min(relieved.rate(0.0), other.rate(0.0)); }  // of one flow on idle links

    BusyLink relieved, other;
};

// The busiest links at any share.
class BusiestLinks {
  public:
    explicit BusiestLinks(const Topology& topology);

    void find(const LinkLoads& loads);

    // The share of detours that traffic settles on by itself, by the topology's routing, and the rate of one flow on
    // idle links then.
    struct Settled {
        double detoured = 0.0;
        BytesPerSecond rate;
    };
    Settled settle();
    // The smallest share that makes the busiest link least busy.
    double best_share();
    BytesPerSecond rate(double share) const;  // of one flow on idle links

  private:
    void add(LinkId link, const LinkLoads::Cell& cell);

    const Topology& topology_;
    BytesPerSecond slowest_;  // of all links
    std::vector<BusyLink> links_;
    double at_zero_ = 0.0, at_one_ = 0.0;                   // the line that all are held against
    LinkLoads::Units straight_ = 0, detoured_ = 0;          // loads that are below it on any link
    std::vector<std::tuple<double, double, double>> ends_;  // of their lines, and slopes
    std::vector<Line> lines_;
};

}  // namespace weft
