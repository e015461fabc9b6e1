#include "sim/event/event_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <queue>
#include <tuple>
#include <vector>

namespace weft {
namespace {

Instant at(std::int64_t ticks) { return {ticks}; }

TEST(event_queue, is_empty_at_first_and_its_next_event_is_never) {
    EventQueue queue;
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.next(), Instant::never());
}

TEST(event_queue, pop_from_an_empty_queue_is_refused) {
    EventQueue queue;
    EXPECT_THROW(queue.pop(), LogicError);
}

TEST(event_queue, earlier_times_run_first_whatever_the_schedule_order) {
    EventQueue queue;
    for (const std::int64_t t : {5, 3, 9, 1, 7}) queue.schedule(at(t), EventKind::work_over, 0);
    for (const std::int64_t t : {1, 3, 5, 7, 9}) {
        EXPECT_EQ(queue.next(), at(t));
        EXPECT_EQ(queue.pop().at, at(t));
    }
    EXPECT_TRUE(queue.empty());
}

TEST(event_queue, equal_times_run_in_schedule_order) {
    EventQueue queue;
    for (std::uint32_t i = 0; i < 100; ++i) queue.schedule(at(42), EventKind::latency_over, i);
    for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(queue.pop().subject, i);
}

// So many that the heap is sifted without branches at first, and few at last.
TEST(event_queue, drains_very_many_in_the_order_of_a_stable_sort) {
    constexpr std::uint32_t events = 300'000;
    const auto time = [](std::uint32_t i) { return at(i * 2'654'435'761U % 1009); };
    EventQueue queue;
    std::vector<std::uint32_t> expected(events);
    for (std::uint32_t i = 0; i < events; ++i) queue.schedule(time(expected[i] = i), EventKind::work_over, i);
    std::ranges::stable_sort(expected, {}, time);
    for (const std::uint32_t subject : expected) ASSERT_EQ(queue.pop().subject, subject);
}

TEST(event_queue, returns_kind_and_subject_as_scheduled) {
    EventQueue queue;
    queue.schedule(at(2), EventKind::latency_over, 17);
    queue.schedule(at(1), EventKind::work_over, 4);
    const Event first = queue.pop();
    EXPECT_EQ(first.kind, EventKind::work_over);
    EXPECT_EQ(first.subject, 4U);
    const Event second = queue.pop();
    EXPECT_EQ(second.kind, EventKind::latency_over);
    EXPECT_EQ(second.subject, 17U);
}

// The queue counts what it is given with a number that runs out.
TEST(event_queue, equal_times_run_in_schedule_order_when_the_order_numbers_start_again) {
    EventQueue queue;
    for (std::uint32_t i = 0; i < 10; ++i) queue.schedule(at(2), EventKind::latency_over, i);
    for (std::uint64_t i = 10; i < EventQueue::most_orders - 5; ++i) {
        queue.schedule(at(1), EventKind::work_over, 0);
        queue.pop();
    }
    for (std::uint32_t i = 10; i < 20; ++i) queue.schedule(at(2), EventKind::latency_over, i);
    for (std::uint32_t i = 0; i < 20; ++i) {
        const Event event = queue.pop();
        EXPECT_EQ(event.subject, i);
        EXPECT_EQ(event.kind, EventKind::latency_over);
    }
}

// Oracle: a stable sort by time alone keeps schedule order among equals.
RC_GTEST_PROP(event_queue, drains_in_the_order_of_a_stable_sort, (std::vector<std::uint8_t> times)) {
    EventQueue queue;
    std::vector<std::uint32_t> expected(times.size());
    for (std::uint32_t i = 0; i < times.size(); ++i) {
        expected[i] = i;
        queue.schedule(at(times[i] / 16), EventKind::work_over, i);  // few distinct times: many ties
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return times[a] / 16 < times[b] / 16; });
    for (const std::uint32_t subject : expected) RC_ASSERT(queue.pop().subject == subject);
    RC_ASSERT(queue.empty());
}

// Oracle: std::priority_queue over (time, order), pushes and pops mixed.
RC_GTEST_PROP(event_queue, mixed_pushes_and_pops_match_a_priority_queue, (std::vector<std::uint8_t> script)) {
    using Key = std::pair<std::int64_t, std::uint32_t>;
    EventQueue queue;
    std::priority_queue<Key, std::vector<Key>, std::greater<>> twin;
    std::uint32_t order = 0;
    for (const std::uint8_t step : script) {
        if (step % 3 == 0 && !twin.empty()) {
            const Event event = queue.pop();
            RC_ASSERT(Key(event.at.femtoseconds, event.subject) == twin.top());
            twin.pop();
        } else {
            queue.schedule(at(step % 8), EventKind::work_over, order);
            twin.emplace(step % 8, order++);
        }
        RC_ASSERT(queue.size() == twin.size());
        RC_ASSERT(queue.next() == (twin.empty() ? Instant::never() : at(twin.top().first)));
    }
}

TEST(heap, make_orders_any_array_in_place) {
    std::vector<int> items{9, 4, 7, 1, 8, 2, 6, 3, 5, 0};
    heap::make(items, std::less<>{});
    for (int i = 0; i < 10; ++i) EXPECT_EQ(heap::pop(items, std::less<>{}), i);
}

RC_GTEST_PROP(heap, reports_the_resting_place_of_every_item_it_moves, (std::vector<int> values)) {
    using Item = std::pair<int, std::size_t>;  // value, identity
    std::vector<Item> items;
    std::vector<std::size_t> place(values.size());
    const auto placed = [&](const Item& item, std::size_t position) { place[item.second] = position; };
    for (std::size_t i = 0; i < values.size(); ++i) {
        items.emplace_back();
        heap::sift_up(items, i, Item(values[i], i), std::less<>{}, placed);
    }
    for (std::size_t i = 0; i < items.size(); ++i) RC_ASSERT(items[place[i]].second == i);
}

}  // namespace
}  // namespace weft
