// A short list per id, all in one array: every row has room for as many items as the longest row had so far, so lists
// that are alike, such as routes, lie side by side without a pointer to each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/table.hpp"

namespace weft {

template <class Id, class Item>
class StridedRows {
  public:
    // Room for `count` items in the row of `id`; what other rows hold stays, where it lies may change.
    std::span<Item> make_room(Id id, std::size_t count) {
        if (count > stride_) widen(count);
        if ((index(id) + 1) * stride_ > items_.size()) items_.resize((index(id) + 1) * stride_);
        return first(id, count);
    }
    std::span<Item> first(Id id, std::size_t count) { return {items_.data() + index(id) * stride_, count}; }
    std::span<const Item> first(Id id, std::size_t count) const { return {items_.data() + index(id) * stride_, count}; }

  private:
    void widen(std::size_t stride) {
        std::vector<Item> wide(stride_ == 0 ? 0 : items_.size() / stride_ * stride);
        for (std::size_t from = 0, to = 0; from < items_.size(); from += stride_, to += stride) {
            std::copy_n(items_.begin() + static_cast<std::ptrdiff_t>(from), stride_,
                        wide.begin() + static_cast<std::ptrdiff_t>(to));
        }
        items_ = std::move(wide);
        stride_ = stride;
    }

    std::vector<Item> items_;
    std::size_t stride_ = 0;
};

}  // namespace weft
