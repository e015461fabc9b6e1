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
#include <memory>
#include <span>
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

    void add(const LinkLoads& other) {
        for (const Page& theirs : other.used()) {
            Page& page = find_or_add(theirs.number);
            page.used |= theirs.used;
            for_each_place(theirs, [&](std::size_t place) {
                for (std::size_t kind = 0; kind < 3; ++kind) {
                    page.cells[place].by_kind[kind] += theirs.cells[place].by_kind[kind];
                }
            });
        }
    }

    // What `other` has on a link, on the link that this one moves to.
    void add_moved(const LinkLoads& other, const LinkMove& move) {
        other.for_each([&](LinkId link, const Cell& cell) {
            Cell& own = touch(move(link));
            for (std::size_t kind = 0; kind < cell.by_kind.size(); ++kind) own.by_kind[kind] += cell.by_kind[kind];
        });
    }
    bool is_empty() const { return used_ == 0; }
    // That have a load.
    std::size_t links() const {
        return sum_of<std::size_t>(used(), [](const Page& page) { return std::size_t(std::popcount(page.used)); });
    }

    void clear() {
        for (Page& page : std::span(pages_).first(used_)) {
            for_each_place(page, [&](std::size_t place) { page.cells[place] = {}; });
            places_[page.number] = 0;
        }
        used_ = 0;
    }

    // Calls visit(LinkId, const Cell&) for every link that has a load, in ascending order once pages are sorted.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Page& page : used()) {
            for_each_place(page, [&](std::size_t place) {
                visit(LinkId(static_cast<std::uint32_t>(page.number * page_size + place)), page.cells[place]);
            });
        }
    }

    void sort() {
        const auto in_use = std::span(pages_).first(used_);
        std::ranges::sort(in_use, {}, &Page::number);
        for (std::uint32_t i = 0; i < used_; ++i) places_[pages_[i].number] = i + 1;
    }

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

    Page& add_page(std::size_t number) {
        if (used_ == pages_.size()) add_cells();
        Page& page = pages_[used_++];
        page.number = number;
        page.used = 0;
        if (number >= places_.size()) places_.resize(number + 1, 0);
        places_[number] = static_cast<std::uint32_t>(used_);
        return page;
    }

    // As many again, as long as that is not much.
    void add_cells() {
        const std::size_t pages = std::clamp<std::size_t>(pages_.size(), 1, most_pages_at_a_time);
        Cell* const cells = cells_.emplace_back(std::make_unique<Cell[]>(pages * page_size)).get();
        for (std::size_t i = 0; i < pages; ++i) pages_.push_back({.cells = cells + i * page_size});
    }

    std::vector<std::unique_ptr<Cell[]>> cells_;  // of pages side by side
    std::vector<Page> pages_;  // of which the first `used_` are in use; cells of the others are empty
    std::size_t used_ = 0;
    std::vector<std::uint32_t> places_;  // by number: 1 + place in pages_, or 0
};

}  // namespace weft
