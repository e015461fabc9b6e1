// Loads of links, and which links have one. Links come in pages, of which those in use are kept: most groups touch few
// of a large machine's links. In units of 2^-40, so that a sum does not depend on the order of its terms and links that
// carry the same are equal to the bit.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/topology/link_move.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// How the messages that load a link came there: they have no other route; on their minimal route; on a detour.
enum class RouteKind : std::uint8_t { only, minimal, detour };

class LinkLoads {
  public:
    using Units = std::int64_t;
    static Units units(double load) { return std::llround(load * unit); }
    // The most that is not above a load.
    static Units units_within(double load) { return static_cast<Units>(std::min(load * unit, 0x1p62)); }

    // What one link carries.
    struct Cell {
        std::array<Units, 3> by_kind{};
        double operator[](RouteKind kind) const {
            return static_cast<double>(by_kind[static_cast<std::size_t>(kind)]) / unit;
        }
        // Where no message takes its detours, and where all do.
        Units straight() const { return by_kind[0] + by_kind[1]; }
        Units detoured() const { return by_kind[0] + by_kind[2]; }
        // Where the share q of the messages that have detours takes them.
        double at(double q) const {
            return (*this)[RouteKind::only] + (1.0 - q) * (*this)[RouteKind::minimal] + q * (*this)[RouteKind::detour];
        }
    };

    void add(LinkId link, RouteKind kind, Units load) { touch(link).by_kind[static_cast<std::size_t>(kind)] += load; }
    void add(const LinkLoads& other);
    // What `other` has on a link, on the link that this one moves to.
    void add_moved(const LinkLoads& other, const LinkMove& move);
    bool is_empty() const { return used_ == 0; }
    std::size_t links() const;  // that have a load
    void clear();

    // Calls visit(LinkId, const Cell&) for every link that has a load, in ascending order once pages are sorted.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Page& page : used()) {
            for_each_place(page, [&](std::size_t place) {
                visit(LinkId(static_cast<std::uint32_t>(page.number * page_size + place)), page.cells[place]);
            });
        }
    }
    void sort();

  private:
    static constexpr double unit = 1099511627776.0;
    static constexpr std::size_t page_size = 64, most_pages_at_a_time = 32;
    struct Page {
        std::size_t number = 0;
        std::uint64_t used = 0;  // bit i: cell i
        Cell* cells = nullptr;
    };

    std::span<const Page> used() const { return std::span(pages_).first(used_); }
    // The link's cell, which is in use from now on.
    Cell& touch(LinkId link) {
        Page& page = find_or_add(index(link) / page_size);
        const std::size_t place = index(link) % page_size;
        page.used |= std::uint64_t{1} << place;
        return page.cells[place];
    }
    template <class Visit>
    static void for_each_place(const Page& page, Visit visit) {
        for (std::uint64_t left = page.used; left != 0; left &= left - 1) {
            visit(static_cast<std::size_t>(std::countr_zero(left)));
        }
    }
    Page& find_or_add(std::size_t number) {
        if (number < places_.size() && places_[number] != 0) return pages_[places_[number] - 1];
        return add_page(number);
    }
    Page& add_page(std::size_t number);
    void add_cells();

    std::vector<std::unique_ptr<Cell[]>> cells_;  // of pages side by side
    std::vector<Page> pages_;  // of which the first `used_` are in use; cells of the others are empty
    std::size_t used_ = 0;
    std::vector<std::uint32_t> places_;  // by number: 1 + place in pages_, or 0
};

// The links that bound the rate of a phase. Of the many that it loads few do: the passes over them leave out early what
// another link bounds more tightly.

// The lowest point of the upper envelope of straight lines.
struct Line {
    double at_zero = 0.0, slope = 0.0;
    double at(double q) const { return at_zero + slope * q; }
};

// The smallest q in [0, 1] at which the highest of the lines is as low as it gets, but for lines that begin less than a
// millionth above that: lines that rounding alone makes fall would ask for all of it. `lines` is not empty, and no
// line is negative in [0, 1].
double lowest_point(std::span<const Line> lines);

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
