// The event loop allocates nothing: a run of a program a hundred times as long makes just as many allocations.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sim/engine/engine.hpp"
#include "sim/explicit/message_runner.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"
#include "tests/sim/engine/toy_program.hpp"

namespace {
std::atomic<std::uint64_t> allocations{0};  // replacing operator new leaves no other place to count
}

// Not inlined: the compiler would see free() meet new, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace weft {
namespace {

// Three classes that compute, run a routine, meet in pairs over shared links, and meet all together, `rounds` times.
Program busy_program(std::uint32_t rounds) {
    toy::Script script;
    const PatternId narrow = script.builder.pattern(toy::path({0})), wide = script.builder.pattern(toy::path({0, 1}));
    std::vector<ExchangeId> pair, all;
    for (std::uint32_t i = 0; i < rounds; ++i) {
        pair.push_back(script.exchange({{narrow, {1e-6}, {10}}, {wide, {}, {7}}}, 2));
        all.push_back(script.exchange({wide, {2e-6}, {25}}, 3));
    }
    for (std::uint32_t c = 0; c < 3; ++c) {
        script.begin("class");
        const Op step{OpKind::compute, toy::compute_lane, script.builder.label("step"), script.builder.work({1e-4})};
        const auto call = [&] {
            return Op{OpKind::exchange, toy::tensor_lane, script.builder.label("call"),
                      static_cast<std::uint32_t>(script.exchange({narrow, {1e-6}, {3}}))};
        };
        const ProgramBuilder::RoutineUnit links[] = {{step, {}}, {call(), {}}, {step, {}}, {call(), step}, {step, {}}};
        const RoutineId routine = script.builder.routine(links);
        for (std::uint32_t i = 0; i < rounds; ++i) {
            script.builder.add({OpKind::routine, toy::compute_lane, step.label, static_cast<std::uint32_t>(routine)},
                               {});
            const OpId work = script.work({1e-3 * (c + 1)});
            if (c < 2) script.take_part(pair[i], {work}, toy::tensor_lane);
            script.take_part(all[i], {work}, toy::data_lane);
        }
    }
    return script.finish();
}

std::uint64_t allocations_of_a_run(std::uint32_t rounds, NetworkKind kind, double interference, std::uint64_t& events) {
    Program program = busy_program(rounds);
    program.interference = interference;
    const Topology topology = toy::fabric({100, 50});
    const std::uint64_t before = allocations;
    events = simulate(program, topology, kind).events;
    return allocations - before;
}

class allocation : public testing::TestWithParam<NetworkKind> {};
TEST_P(allocation, does_not_grow_with_the_length_of_the_run) {
    for (const double interference : {1.0, 1.25}) {
        std::uint64_t short_events = 0, long_events = 0;
        const std::uint64_t short_run = allocations_of_a_run(4, GetParam(), interference, short_events);
        const std::uint64_t long_run = allocations_of_a_run(400, GetParam(), interference, long_events);
        EXPECT_GT(short_run, 0U) << "the counter does not count";
        EXPECT_EQ(long_run, short_run);
        EXPECT_EQ(long_events, 100 * short_events);
    }
}
INSTANTIATE_TEST_SUITE_P(engine, allocation, testing::Values(NetworkKind::flow, NetworkKind::ideal, NetworkKind::free));

// Six actors go round a ring, work for unequal times and post to the actor opposite, so that flows meet on links.
std::uint64_t allocations_of_messages(std::uint32_t rounds, std::uint64_t& messages) {
    constexpr std::uint32_t actors = 6;
    MessageProgram program;
    program.tables.inboxes = 2;
    program.tables.shapes = {{.bytes = 1_MiB}, {.bytes = 3_MiB, .cap = 4_GBps}};
    program.tables.durations = {1_us, 3_us, 70_us};
    for (std::uint32_t a = 0; a < actors; ++a) {
        program.begin({RankId(a), 0});
        for (std::uint32_t i = 0; i < rounds; ++i) {
            program.add({.kind = MessageActionKind::work, .subject = a % 3});
            program.add({MessageActionKind::exchange, InboxId{0}, 0, ActorId((a + 1) % actors), 2});
            program.add({MessageActionKind::post, InboxId{1}, 1, ActorId((a + actors / 2) % actors), 1});
            program.add({MessageActionKind::exchange, InboxId{0}, 0, ActorId((a + 1) % actors), 1});
            program.add({.kind = MessageActionKind::settle});
            program.add({.kind = MessageActionKind::receive, .inbox = InboxId{1}});
        }
    }
    const Topology topology = testing_support::toy_crossbar(actors, 1, 10_GBps, 1_us);
    const std::uint64_t before = allocations;
    messages = MessageRunner<MessageProgram>(program, program.tables, topology).run().messages;
    return allocations - before;
}

TEST(message_allocation, does_not_grow_with_the_length_of_the_run) {
    std::uint64_t short_messages = 0, long_messages = 0;
    const std::uint64_t short_run = allocations_of_messages(10, short_messages);
    const std::uint64_t long_run = allocations_of_messages(1000, long_messages);
    EXPECT_GT(short_run, 0U) << "the counter does not count";
    EXPECT_EQ(long_run, short_run);
    EXPECT_EQ(long_messages, 100 * short_messages);
}

}  // namespace
}  // namespace weft
