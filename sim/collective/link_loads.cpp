#include "sim/collective/link_loads.hpp"

#include <algorithm>

namespace weft {

void LinkLoads::clear() {
    for (const LinkId link : used_) (*pages_[find_or_add(index(link) / page_size)].cells)[index(link) % page_size] = 0;
    used_.clear();
}

const LinkLoads::Page* LinkLoads::find(std::size_t number) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t slot = slot_of(number); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
        if (pages_[slots_[slot] - 1].number == number) return &pages_[slots_[slot] - 1];
    }
    return nullptr;
}

std::size_t LinkLoads::find_or_add(std::size_t number) {
    if (last_ < pages_.size() && pages_[last_].number == number) return last_;
    if (const Page* const known = find(number)) return last_ = static_cast<std::size_t>(known - pages_.data());
    pages_.push_back({number, std::make_unique<Cells>()});
    if (2 * pages_.size() > slots_.size()) {
        rehash();
    } else {
        std::size_t slot = slot_of(number);
        while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = static_cast<std::uint32_t>(pages_.size());
    }
    return last_ = pages_.size() - 1;
}

void LinkLoads::rehash() {
    slots_.assign(std::max<std::size_t>(8, 2 * slots_.size()), 0);
    for (std::uint32_t i = 0; i < pages_.size(); ++i) {
        std::size_t slot = slot_of(pages_[i].number);
        while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = i + 1;
    }
}

}  // namespace weft
