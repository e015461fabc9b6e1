// Loads of links, and which links have one. Links come in pages, of which those in use are kept: most groups touch few
// of a large machine's links. In units of 2^-40, so that a sum does not depend on the order of its terms and links that
// carry the same are equal to the bit.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

class LinkLoads {
  public:
    using Units = std::int64_t;
    static Units units(double load) { return std::llround(load * unit); }

    void add(LinkId link, Units load) {
        Units& cell = (*pages_[find_or_add(index(link) / page_size)].cells)[index(link) % page_size];
        if (cell == 0) used_.push_back(link);
        cell += load;
    }
    void add(const LinkLoads& other) {
        for (const LinkId link : other.used_) add(link, other.units_of(link));
    }
    double operator[](LinkId link) const { return static_cast<double>(units_of(link)) / unit; }
    const std::vector<LinkId>& used() const { return used_; }
    void clear();

  private:
    static constexpr double unit = 1099511627776.0;
    static constexpr std::size_t page_size = 128;
    using Cells = std::array<Units, page_size>;
    struct Page {
        std::size_t number = 0;
        std::unique_ptr<Cells> cells;
    };

    std::size_t slot_of(std::size_t number) const {
        return (number * 0x9e3779b97f4a7c15U >> 32U) & (slots_.size() - 1);
    }
    const Page* find(std::size_t number) const;
    std::size_t find_or_add(std::size_t number);
    void rehash();
    Units units_of(LinkId link) const {
        const Page* const page = find(index(link) / page_size);
        return page != nullptr ? (*page->cells)[index(link) % page_size] : 0;
    }

    std::vector<Page> pages_;
    std::vector<std::uint32_t> slots_;  // open addressing, a power of two: 1 + place in pages_, or 0
    std::size_t last_ = 0;              // page added to last: routes of neighbours share most of theirs
    std::vector<LinkId> used_;
};

}  // namespace weft
