#include "sim/collective/link_loads.hpp"

#include <utility>

namespace weft {

void LinkLoads::add(const LinkLoads& other) {
    for (const Page& theirs : other.pages_) {
        Page& page = pages_[find_or_add(theirs.number)];
        for (std::size_t word = 0; word < page.used.size(); ++word) page.used[word] |= theirs.used[word];
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
    for (const Page& page : pages_) {
        for (const std::uint64_t word : page.used) count += static_cast<std::size_t>(std::popcount(word));
    }
    return count;
}

void LinkLoads::clear() {
    for (Page& page : pages_) {
        for_each_place(page, [&](std::size_t place) { page.cells[place] = {}; });
        spare_.push_back(std::move(page.cells));
        places_[page.number] = 0;
    }
    pages_.clear();
}

void LinkLoads::sort() {
    std::sort(pages_.begin(), pages_.end(), [](const Page& a, const Page& b) { return a.number < b.number; });
    for (std::uint32_t i = 0; i < pages_.size(); ++i) places_[pages_[i].number] = i + 1;
}

std::size_t LinkLoads::add_page(std::size_t number) {
    if (spare_.empty()) spare_.push_back(std::make_unique<Cell[]>(page_size));
    pages_.push_back({.number = number, .used = {}, .cells = std::move(spare_.back())});
    spare_.pop_back();
    if (number >= places_.size()) places_.resize(number + 1, 0);
    places_[number] = static_cast<std::uint32_t>(pages_.size());
    return pages_.size() - 1;
}

}  // namespace weft
