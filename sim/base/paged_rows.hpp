// Rows of equal length, which come in pages: those are kept that are asked for. For tables of which little is used.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace weft {

template <class T>
class PagedRows {
  public:
    PagedRows(std::size_t rows, std::size_t length) : length_(length), pages_(rows / page_size + 1) {}

    // Values are T{} before they are written.
    std::span<T> operator[](std::size_t row) {
        std::unique_ptr<T[]>& page = pages_[row / page_size];
        if (page == nullptr) page = std::make_unique<T[]>(page_size * length_);
        return {page.get() + row % page_size * length_, length_};
    }
    // Calls visit(row, place in it, value) in ascending order, for all rows of pages that were asked for.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t page = 0; page < pages_.size(); ++page) {
            if (pages_[page] == nullptr) continue;
            for (std::size_t row = 0, i = 0; row < page_size; ++row) {
                for (std::size_t place = 0; place < length_; ++place) {
                    visit(page * page_size + row, place, pages_[page][i++]);
                }
            }
        }
    }

  private:
    static constexpr std::size_t page_size = 64;
    std::size_t length_;
    std::vector<std::unique_ptr<T[]>> pages_;
};

}  // namespace weft
