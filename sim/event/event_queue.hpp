// What happens when. Events are small plain values in a heap; nothing is ever cancelled: a flow whose rate changed is
// not rescheduled here, because the engine asks the network for its next change instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/base/instant.hpp"
#include "sim/event/heap.hpp"

namespace weft {

// The kind says which table `Event::subject` indexes. Kinds do not rank: equal times run in schedule order.
enum class EventKind : std::uint8_t {
    work_over,     // subject: OpId of a compute op
    latency_over,  // subject: ExchangeId whose current leg has waited out its latency
};

struct Event {
    Instant at;
    std::uint32_t subject = 0;  // dense id
    EventKind kind{};
};

class EventQueue {
  public:
    static constexpr std::uint64_t most_orders = std::uint64_t{1} << 24;

    void reserve(std::size_t events) { entries_.reserve(events); }

    void schedule(Instant at, EventKind kind, std::uint32_t subject) {
        if (scheduled_ == most_orders) renumber();
        const std::uint64_t what = std::uint64_t{static_cast<std::uint8_t>(kind)} << 32U | subject;
        heap::push(entries_, Entry{at, scheduled_++ << 40U | what}, earlier);
    }

    // The earliest event; of equal times the one scheduled first. LogicError if there is none.
    Event pop() {
        WEFT_CHECK(!entries_.empty(), "pop from an empty event queue");
        const Entry first =
            entries_.size() < many ? heap::pop(entries_, earlier) : heap::pop(entries_, earlier_of_many);
        return {first.at, static_cast<std::uint32_t>(first.key), static_cast<EventKind>(first.key >> 32U & 0xffU)};
    }

    // When the next event happens; Instant::never() if none is left.
    Instant next() const { return entries_.empty() ? Instant::never() : entries_.front().at; }

    bool empty() const { return entries_.empty(); }
    std::size_t size() const { return entries_.size(); }

  private:
    // Four of them, which a node's children are, fill a cache line.
    struct Entry {
        Instant at;
        std::uint64_t key = 0;  // schedule order, the only tie-break, so runs are reproducible; kind; subject
    };
    static_assert(sizeof(Entry) == 16 && std::is_trivially_copyable_v<Entry>);

    static constexpr auto earlier = [](const Entry& a, const Entry& b) {
        return a.at != b.at ? a.at < b.at : a.key < b.key;
    };
    // The same order without a branch. A processor that guesses which child leaves first is ahead while the children
    // are in its cache, and far behind where it has to fetch them: from so many (2 MiB) on.
    static constexpr std::size_t many = std::size_t{1} << 17;
    static constexpr auto earlier_of_many = [](const Entry& a, const Entry& b) {
        const bool before = a.at < b.at, together = a.at == b.at, first = a.key < b.key;
        return before | (together & first);
    };

    // When the numbers run out, those of what is pending start again at 0. What is sorted is a heap.
    void renumber() {
        WEFT_CHECK(entries_.size() < most_orders, "too many events are pending");
        std::sort(entries_.begin(), entries_.end(), earlier);
        scheduled_ = 0;
        for (Entry& entry : entries_) entry.key = scheduled_++ << 40U | (entry.key & 0xff'ffff'ffffU);
    }

    std::vector<Entry> entries_;
    std::uint64_t scheduled_ = 0;
};

}  // namespace weft
