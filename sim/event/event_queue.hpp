// What happens when. Events are small plain values in a heap; nothing is ever cancelled: a flow whose rate changed is
// not rescheduled here, because the engine asks the network for its next change instead.
#pragma once

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
    std::uint64_t order = 0;    // schedule order: the only tie-break, so runs are reproducible
    std::uint32_t subject = 0;  // dense id
    EventKind kind{};
};
static_assert(sizeof(Event) == 24 && std::is_trivially_copyable_v<Event>);

class EventQueue {
  public:
    void reserve(std::size_t events) { events_.reserve(events); }

    void schedule(Instant at, EventKind kind, std::uint32_t subject) {
        heap::push(events_, Event{at, scheduled_++, subject, kind}, earlier);
    }

    // The earliest event; of equal times the one scheduled first. LogicError if there is none.
    Event pop() {
        WEFT_CHECK(!events_.empty(), "pop from an empty event queue");
        return heap::pop(events_, earlier);
    }

    // When the next event happens; Instant::never() if none is left.
    Instant next() const { return events_.empty() ? Instant::never() : events_.front().at; }

    bool empty() const { return events_.empty(); }
    std::size_t size() const { return events_.size(); }

  private:
    static constexpr auto earlier = [](const Event& a, const Event& b) {
        return a.at != b.at ? a.at < b.at : a.order < b.order;
    };

    std::vector<Event> events_;
    std::uint64_t scheduled_ = 0;
};

}  // namespace weft
