// Rows of equal length, which come in pages: those are kept that are asked for. For tables of which little is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

template <class T>
class PagedRows {
  public:
    PagedRows(std::size_t rows, std::size_t length) : length_(length), pages_(rows / page_size + 1, none) {}

    // Values are T{} before they are written. Valid until another row is asked for.
    std::span<T> operator[](std::size_t row) {
        std::uint32_t& page = pages_[row / page_size];
        if (page == none) {
            page = static_cast<std::uint32_t>(values_.size());
            values_.resize(values_.size() + page_size * length_);
        }
        return std::span(values_).subspan(page + row % page_size * length_, length_);
    }
    // Calls visit(row, place in it, value) in ascending order, for all rows of pages that were asked for.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t page = 0; page < pages_.size(); ++page) {
            if (pages_[page] == none) continue;
            for (std::size_t i = 0; i < page_size * length_; ++i) {
                visit(page * page_size + i / length_, i % length_, values_[pages_[page] + i]);
            }
        }
    }

  private:
    static constexpr std::size_t page_size = 64;
    static constexpr std::uint32_t none = 0xffffffff;
    std::size_t length_;
    std::vector<std::uint32_t> pages_;  // by number: where its values begin
    std::vector<T> values_;
};

}  // namespace weft
