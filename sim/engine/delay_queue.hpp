// What happens after a delay, in order of time and, of equal times, of entering. As now never goes back, events that
// were delayed by equal times fall due in the order in which they came: few distinct delays take a line each and no
// heap. Delays beyond those share a heap. Nothing is ever cancelled: a flow whose rate changed is not in here, because
// the network is asked for its next change instead.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/event/heap.hpp"

namespace weft {

template <class Item>
class DelayQueue {
  public:
    // `now` must not go back from one call to the next.
    void push(Instant now, std::int64_t ticks, const Item& item) {
        const Entry entry{after(now, ticks), entered_++, item};
        const std::size_t line = line_of(ticks);
        if (line < lines_used_) {
            lines_[line].push(entry);
            if (lines_[line].count == 1) fronts_[line] = {entry.at, entry.order};
        } else {
            heap::push(others_, entry, earlier);
        }
        if (entry.at < next_) {
            next_ = entry.at;
            next_line_ = line;
        }
    }

    // Instant::never() if there is nothing to come.
    Instant next() const { return next_; }

    // There must be one.
    Item pop() {
        const Item item = next_line_ < lines_used_ ? pop_line() : heap::pop(others_, earlier).item;
        look();
        return item;
    }

  private:
    struct Entry {
        Instant at;
        std::uint64_t order = 0;
        Item item;
    };
    struct Front {
        Instant at = Instant::never();
        std::uint64_t order = 0;
    };
    static constexpr auto earlier = [](const auto& a, const auto& b) {
        return a.at != b.at ? a.at < b.at : a.order < b.order;
    };

    // First in, first out, in a circle that grows.
    struct Line {
        std::vector<Entry> circle{};  // size: a power of two
        std::size_t first = 0, count = 0;

        const Entry& front() const { return circle[first]; }
        void push(const Entry& entry) {
            if (count == circle.size()) grow();
            circle[(first + count++) & (circle.size() - 1)] = entry;
        }
        Item pop() {
            const std::size_t at = first;
            first = (first + 1) & (circle.size() - 1);
            --count;
            return circle[at].item;
        }
        void grow() {
            std::vector<Entry> wide(circle.empty() ? 16 : 2 * circle.size());
            for (std::size_t i = 0; i < count; ++i) wide[i] = circle[(first + i) & (circle.size() - 1)];
            circle = std::move(wide);
            first = 0;
        }
    };

    // Past the last line in use: none is left for that delay.
    std::size_t line_of(std::int64_t ticks) {
        for (std::size_t i = 0; i < lines_used_; ++i) {
            if (delays_[i] == ticks) return i;
        }
        if (lines_used_ == most_lines) return most_lines;
        delays_[lines_used_] = ticks;
        return lines_used_++;
    }

    // A line in which nobody waits is out of use: delays that came once do not keep lines from others, and fewer are
    // looked at.
    Item pop_line() {
        Line& line = lines_[next_line_];
        const Item item = line.pop();
        if (line.count > 0) {
            fronts_[next_line_] = {line.front().at, line.front().order};
            return item;
        }
        --lines_used_;
        std::swap(line, lines_[lines_used_]);
        delays_[next_line_] = delays_[lines_used_];
        fronts_[next_line_] = fronts_[lines_used_];
        return item;
    }

    void look() {
        Front first = others_.empty() ? Front{} : Front{others_.front().at, others_.front().order};
        next_line_ = most_lines;
        for (std::size_t i = 0; i < lines_used_; ++i) {
            if (!earlier(fronts_[i], first)) continue;
            first = fronts_[i];
            next_line_ = i;
        }
        next_ = first.at;
    }

    static constexpr std::size_t most_lines = 16;

    // Of each line in use; what is looked at again and again lies together.
    std::array<std::int64_t, most_lines> delays_{};
    std::array<Front, most_lines> fronts_{};
    std::array<Line, most_lines> lines_{};
    std::size_t lines_used_ = 0;
    std::vector<Entry> others_;  // a heap
    std::uint64_t entered_ = 0;
    Instant next_ = Instant::never();
    std::size_t next_line_ = 0;
};

}  // namespace weft
