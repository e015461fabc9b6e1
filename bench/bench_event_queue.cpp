// The hold model: a queue of constant size; every pop schedules one event a random time later. Beside ours the same
// events in std::priority_queue, and as a floor a bare heap of (time, id) that keeps no order among equal times.
#include <cstdint>
#include <queue>
#include <vector>

#include "bench/proof.hpp"
#include "sim/event/event_queue.hpp"
#include "sim/event/heap.hpp"
#include "sim/network/fingerprint.hpp"

namespace {

using namespace weft;

// Delay of the n-th event: 0 to 65535 ticks, so that ties occur.
std::int64_t delay(std::uint64_t n) { return static_cast<std::int64_t>(Fingerprint().add(n).value() & 0xffff); }

// The library's queue with the interface of ours.
class Twin {
  public:
    void reserve(std::size_t) {}
    void schedule(Instant at, EventKind kind, std::uint32_t subject) {
        events_.push({{at, subject, kind}, scheduled_++});
    }
    Event pop() {
        const Event event = events_.top().event;
        events_.pop();
        return event;
    }

  private:
    struct Entry {
        Event event;
        std::uint64_t order = 0;
    };
    struct Later {
        bool operator()(const Entry& a, const Entry& b) const {
            return a.event.at != b.event.at ? a.event.at > b.event.at : a.order > b.order;
        }
    };
    std::priority_queue<Entry, std::vector<Entry>, Later> events_;
    std::uint64_t scheduled_ = 0;
};

class Bare {
  public:
    void reserve(std::size_t events) { entries_.reserve(events); }
    void schedule(Instant at, EventKind, std::uint32_t subject) { heap::push(entries_, {at, subject}, earlier); }
    Event pop() {
        const Entry first = heap::pop(entries_, earlier);
        return {first.at, first.id, {}};
    }

  private:
    struct Entry {
        Instant at;
        std::uint32_t id = 0;
    };
    static_assert(sizeof(Entry) == 16);
    static constexpr auto earlier = [](const Entry& a, const Entry& b) { return a.at < b.at; };
    std::vector<Entry> entries_;
};

template <class Queue>
class Hold {
  public:
    explicit Hold(std::int64_t size) {
        queue_.reserve(static_cast<std::size_t>(size));
        for (std::int64_t i = 0; i < size; ++i) schedule(Instant{});
    }
    Event step() {
        const Event event = queue_.pop();
        schedule(event.at);
        return event;
    }

  private:
    void schedule(Instant now) {
        const std::uint64_t n = scheduled_++;
        queue_.schedule({now.femtoseconds + delay(n)}, EventKind::work_over, static_cast<std::uint32_t>(n));
    }
    Queue queue_;
    std::uint64_t scheduled_ = 0;
};

bool pops_are_equal() {
    Hold<EventQueue> ours(5000);
    Hold<Twin> twin(5000);
    for (int i = 0; i < 100'000; ++i) {
        const Event a = ours.step(), b = twin.step();
        if (a.at != b.at || a.kind != b.kind || a.subject != b.subject) return false;
    }
    return true;
}

template <class Queue>
void hold(benchmark::State& state) {
    Hold<Queue> model(state.range(0));
    for (auto _ : state) benchmark::DoNotOptimize(model.step());
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK_TEMPLATE(hold, EventQueue)->RangeMultiplier(10)->Range(1'000, 1'000'000);
BENCHMARK_TEMPLATE(hold, Twin)->RangeMultiplier(10)->Range(1'000, 1'000'000);
BENCHMARK_TEMPLATE(hold, Bare)->RangeMultiplier(10)->Range(1'000, 1'000'000);

}  // namespace

int main(int argc, char** argv) { return weft::bench::prove_then_time(argc, argv, pops_are_equal); }
