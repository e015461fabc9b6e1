#include "sim/cost/link_loads.hpp"

#include <utility>

namespace weft {

void LinkLoads::add(const LinkLoads& other) {
    for (const Page& theirs : other.used()) {
        Page& page = find_or_add(theirs.number);
        page.used |= theirs.used;
        for_each_place(theirs, [&](std::size_t place) {
            for (std::size_t way = 0; way < 3; ++way) {
                page.cells[place].by_way[way] += theirs.cells[place].by_way[way];
            }
        });
    }
}

void LinkLoads::add_moved(const LinkLoads& other, const LinkMove& move) {
    other.for_each([&](LinkId link, const Cell& cell) {
        Cell& own = touch(move(link));
        for (std::size_t way = 0; way < cell.by_way.size(); ++way) own.by_way[way] += cell.by_way[way];
    });
}

std::size_t LinkLoads::links() const {
    std::size_t count = 0;
    for (const Page& page : used()) count += static_cast<std::size_t>(std::popcount(page.used));
    return count;
}

void LinkLoads::clear() {
    for (Page& page : std::span(pages_).first(used_)) {
        for_each_place(page, [&](std::size_t place) { page.cells[place] = {}; });
        places_[page.number] = 0;
    }
    used_ = 0;
}

void LinkLoads::sort() {
    const auto in_use = std::span(pages_).first(used_);
    std::ranges::sort(in_use, {}, &Page::number);
    for (std::uint32_t i = 0; i < used_; ++i) places_[pages_[i].number] = i + 1;
}

LinkLoads::Page& LinkLoads::add_page(std::size_t number) {
    if (used_ == pages_.size()) add_cells();
    Page& page = pages_[used_++];
    page.number = number;
    page.used = 0;
    if (number >= places_.size()) places_.resize(number + 1, 0);
    places_[number] = static_cast<std::uint32_t>(used_);
    return page;
}

// As many again, as long as that is not much.
void LinkLoads::add_cells() {
    const std::size_t pages = std::clamp<std::size_t>(pages_.size(), 1, most_pages_at_a_time);
    Cell* const cells = cells_.emplace_back(std::make_unique<Cell[]>(pages * page_size)).get();
    for (std::size_t i = 0; i < pages; ++i) pages_.push_back({.cells = cells + i * page_size});
}

}  // namespace weft
