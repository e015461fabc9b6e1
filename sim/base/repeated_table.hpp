// A table of values that repeat: an entry for each of a period, however many times over it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/table.hpp"

namespace weft {

// Rows in stretches, of which there are few: each is part of a period that repeats from its origin on.
template <class Id, class T>
class RepeatedTable {
  public:
    // Appends `period`, `times` over.
    void repeat(std::span<const T> period, std::uint32_t times) {
        const std::uint64_t rows = std::uint64_t{times} * period.size();
        WEFT_CHECK(rows <= std::numeric_limits<std::uint32_t>::max() - size_, "more rows than ids");
        if (rows == 0) return;
        stretches_.push_back({.first = size_,
                              .origin = size_,
                              .period = static_cast<std::uint32_t>(period.size()),
                              .values = static_cast<std::uint32_t>(values_.size())});
        values_.insert(values_.end(), period.begin(), period.end());
        size_ += static_cast<std::uint32_t>(rows);
    }

    // One row differs from what repeats.
    void replace(Id id, T value) {
        const auto row = static_cast<std::uint32_t>(id);
        WEFT_CHECK(row < size_, "no such row");
        const std::size_t at = place_of(row);
        const Stretch whole = stretches_[at];
        std::vector<Stretch> parts;
        if (whole.first < row) parts.push_back(whole);
        parts.push_back(
            {.first = row, .origin = row, .period = 1, .values = static_cast<std::uint32_t>(values_.size())});
        if (row + 1 < end_of(at)) {
            parts.push_back(whole);
            parts.back().first = row + 1;
        }
        values_.push_back(value);
        const auto replaced = stretches_.erase(stretches_.begin() + static_cast<std::ptrdiff_t>(at));
        stretches_.insert(replaced, parts.begin(), parts.end());
    }

    T operator[](Id id) const {
        const auto row = static_cast<std::uint32_t>(id);
        const Stretch& stretch = stretches_[place_of(row)];
        return values_[stretch.values + (row - stretch.origin) % stretch.period];
    }

    std::size_t size() const { return size_; }

    // How many rows have `value`.
    std::uint32_t count(T value) const {
        std::uint32_t rows = 0;
        for (std::size_t at = 0; at < stretches_.size(); ++at) {
            const Stretch& stretch = stretches_[at];
            // Of the rows from the origin up to `end`: those at place i of the period.
            const auto up_to = [&](std::uint32_t end, std::uint32_t i) {
                const std::uint32_t length = end - stretch.origin;
                return length / stretch.period + (length % stretch.period > i ? 1 : 0);
            };
            for (std::uint32_t i = 0; i < stretch.period; ++i) {
                if (values_[stretch.values + i] == value) rows += up_to(end_of(at), i) - up_to(stretch.first, i);
            }
        }
        return rows;
    }

  private:
    struct Stretch {
        std::uint32_t first = 0;
        std::uint32_t origin = 0;  // where the period begins; before `first` where rows since then are replaced
        std::uint32_t period = 1;
        std::uint32_t values = 0;  // where those of the period are
    };

    std::uint32_t end_of(std::size_t at) const { return at + 1 < stretches_.size() ? stretches_[at + 1].first : size_; }

    // The last stretch that begins at `row` or before, without branches: neighbouring questions go to any of them.
    std::size_t place_of(std::uint32_t row) const {
        std::size_t at = 0;
        for (std::size_t left = stretches_.size(); left > 1;) {
            const std::size_t half = left / 2;
            at += stretches_[at + half].first <= row ? half : 0;
            left -= half;
        }
        return at;
    }

    std::vector<Stretch> stretches_;  // ascending, without gaps
    std::vector<T> values_;
    std::uint32_t size_ = 0;
};

}  // namespace weft
