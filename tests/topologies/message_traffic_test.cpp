// Messages between ranks against closed forms, against collectives that are the same messages, and what holds of any.
#include "topologies/message_traffic.hpp"
#include "tests/sim/explicit/explicit_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/topologies/small_machine.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// All 16 nodes on one switch: two ranks a node, each with a port of 10 GB/s; every link and step takes 1 us.
const std::string one_switch =
    R"({ "kind": "fat_tree", "source": "test", "nodes_per_leaf": 16, "radix": 64, "port": "port", "levels": [] })";
const std::string dragonfly = R"({ "kind": "dragonfly", "source": "test", "nodes_per_group": 4, "switches_per_group": 4,
    "nodes_per_chassis": 2, "switches_per_chassis": 2, "global_links": 1, "radix": 16,
    "port": "port", "local": "up", "global": "core" })";

Machine small(const std::string& network) {
    return Machine::read(Document::parse("small.json", small_machine(network)));
}

constexpr Seconds latency{6e-6};  // launch, step, and four links

TrafficRun run(const std::vector<TrafficMessage>& messages, const Topology& topology, const Machine& machine) {
    return run_traffic(messages, topology, machine.info().library(), {}, {});
}

TrafficMessage message(std::uint32_t from, std::uint32_t to, Bytes bytes, Seconds start = {}) {
    return {RankId{from}, RankId{to}, bytes, start};
}

std::vector<TrafficMessage> shift(std::uint32_t ranks, std::uint32_t by, Bytes bytes) {
    std::vector<TrafficMessage> messages;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) messages.push_back(message(rank, (rank + by) % ranks, bytes));
    return messages;
}

double relative(Seconds a, Seconds b) { return a / b - 1.0; }

TEST(message_traffic, of_a_shift_goes_at_line_rate_through_one_switch) {
    const Machine machine = small(one_switch);
    for (const std::uint32_t by : {2U, 10U, 30U}) {
        const std::vector<TrafficMessage> messages = shift(32, by, 1_MiB);
        const TrafficRun ran = run(messages, machine.topology(16), machine);
        for (const SentMessage& sent : ran.messages) {
            EXPECT_NEAR(sent.rate(1_MiB) / 10_GBps, 1.0, 1e-9);
            EXPECT_EQ(sent.hops, 4U);
        }
        EXPECT_NEAR(relative(ran.time, latency + 1_MiB / 10_GBps), 0.0, 1e-9);
    }
}

// The port of the receiver is held for all that come, and nothing else binds.
TEST(message_traffic, of_an_incast_shares_the_last_link) {
    const Machine machine = small(one_switch);
    for (const std::uint32_t senders : {1U, 2U, 7U, 15U}) {
        std::vector<TrafficMessage> messages;
        for (std::uint32_t i = 1; i <= senders; ++i) messages.push_back(message(2 * i, 0, 4_MiB));
        const TrafficRun ran = run(messages, machine.topology(16), machine);
        const Seconds held = senders * 4_MiB / 10_GBps;
        EXPECT_NEAR(relative(ran.time, latency + held), 0.0, 1e-9);
        for (const SentMessage& sent : ran.messages) EXPECT_NEAR(sent.rate(4_MiB) / 10_GBps * senders, 1.0, 1e-9);
        const auto last = std::ranges::max_element(ran.links, {}, &CarryingLink::held);
        EXPECT_NEAR(relative(last->held, held), 0.0, 1e-12);
        if (senders > 1) {
            EXPECT_EQ(last->bound, senders);
            EXPECT_EQ(last->messages, senders);
        }
    }
}

// The second starts when half of the first is there: both go at half the rate until the first has arrived, and the
// second has a half left.
TEST(message_traffic, that_starts_later_meets_what_is_left) {
    const Machine machine = small(one_switch);
    const Seconds alone = 10_MiB / 10_GBps;
    const TrafficRun ran =
        run({message(2, 0, 10_MiB), message(4, 0, 10_MiB, alone * 0.5)}, machine.topology(16), machine);
    EXPECT_NEAR(relative(ran.messages[0].arrival, latency + alone * 1.5), 0.0, 1e-9);
    EXPECT_NEAR(relative(ran.messages[1].arrival, latency + alone * 2.0), 0.0, 1e-9);
}

TEST(message_traffic, of_one_rank_shares_the_most_that_it_sends) {
    std::string text = small_machine(one_switch);
    for (std::size_t at = 0; (at = text.find("\"step_across\": \"1 us\"", at)) != text.npos; at += 40) {
        text.insert(at, "\"rate_across\": \"4 GB/s\", ");
    }
    const Machine machine = Machine::read(Document::parse("small.json", text));
    const TrafficRun ran = run({message(0, 2, 1_MiB), message(0, 4, 1_MiB), message(6, 8, 1_MiB), message(0, 1, 1_MiB)},
                               machine.topology(16), machine);
    EXPECT_NEAR(ran.messages[0].rate(1_MiB) / 4_GBps, 1.0 / 3.0, 1e-9);
    EXPECT_NEAR(ran.messages[1].rate(1_MiB) / 4_GBps, 1.0 / 3.0, 1e-9);
    EXPECT_NEAR(ran.messages[2].rate(1_MiB) / 4_GBps, 1.0, 1e-9);
    EXPECT_EQ(ran.bound_by_library, 3U);
}

std::vector<TrafficMessage> random_messages(const Topology& topology, std::uint32_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<TrafficMessage> messages;
    while (messages.size() < count) {
        const auto from = static_cast<std::uint32_t>(random() % topology.ranks);
        const auto to = static_cast<std::uint32_t>(random() % topology.ranks);
        if (from == to) continue;
        const Seconds start{1e-6 * static_cast<double>(random() % 200)};
        messages.push_back(message(from, to, Bytes{static_cast<double>(1 + random() % 1'000'000)}, start));
    }
    return messages;
}

TEST(message_traffic, puts_every_byte_on_every_link_of_its_way) {
    const Machine machine = small(dragonfly);
    for (const Routing routing : {Routing::minimal, Routing::ecmp, Routing::adaptive, Routing::valiant}) {
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            const Topology topology = machine.topology(16, {.routing = routing});
            const std::vector<TrafficMessage> messages = random_messages(topology, 200, seed);
            const TrafficRun ran = run(messages, topology, machine);
            Bytes asked, carried;
            for (std::size_t i = 0; i < messages.size(); ++i) asked += messages[i].bytes * ran.messages[i].hops;
            std::uint32_t bound = ran.bound_by_library;
            for (const CarryingLink& link : ran.links) {
                carried += link.bytes;
                bound += link.bound;
                EXPECT_LE(link.held, ran.time);
            }
            EXPECT_DOUBLE_EQ(asked.value, carried.value);
            EXPECT_EQ(bound, messages.size());
        }
    }
}

// The same messages as a send_receive, round a ring and message by message.
TEST(message_traffic, of_a_shift_by_one_is_a_send_receive) {
    for (const char* const name : {"frontier", "dgx-h100", "aurora", "tpu-v4"}) {
        const Machine machine = Machine::load(name);
        const Topology topology = machine.topology(2);
        const Library& library = machine.info().library();
        CollectiveSet set(topology, library, {.ranks = topology.ranks, .ranks_per_node = topology.ranks_per_node});
        const Choice choice = set.costs().require(Collective::send_receive, 16_MiB);
        const ExplicitRun ring =
            run_explicitly(*choice.algorithm, set.costs().shape(), set.communicators(choice.algorithm->order).front(),
                           16_MiB, Waits::sends, topology, library, *choice.protocol);
        const std::vector<TrafficMessage> messages = shift(topology.ranks, 1, 16_MiB);
        EXPECT_NEAR(relative(run(messages, topology, machine).time, ring.time), 0.0, 1e-6) << name;
    }
}

TEST(message_traffic, between_two_ranks_costs_what_a_send_receive_of_two_costs) {
    for (const std::string& name : machine_names()) {
        const Machine machine = Machine::load(name);
        for (const Library& library : machine.info().libraries) {
            if (!library.runs(Collective::send_receive)) continue;
            for (const std::uint32_t ranks_per_node : {1U, std::min(2U, machine.info().accelerators_per_node)}) {
                const Topology topology = machine.topology(ranks_per_node == 1 ? 2 : 1);
                CollectiveSet set(topology, library, {.ranks = 2, .ranks_per_node = ranks_per_node});
                const std::uint32_t other = ranks_per_node == 1 ? topology.ranks_per_node : 1;
                for (const Bytes size : {Bytes{8.0}, 4_KiB, 64_KiB, 64_MiB}) {
                    const std::vector<TrafficMessage> both{message(0, other, size), message(other, 0, size)};
                    const Seconds time = set.time(set.costs().require(Collective::send_receive, size), size);
                    const TrafficRun ran = run_traffic(both, topology, library, {}, {});
                    EXPECT_NEAR(relative(ran.time, time), 0.0, 1e-6)
                        << name << ", " << library.name << ", " << size.value;
                }
            }
        }
    }
}

TEST(message_traffic, is_never_faster_under_load) {
    const Machine machine = small(dragonfly);
    for (const std::uint32_t by : {1U, 2U, 8U, 16U, 31U}) {
        Seconds before;
        for (const double load : {0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99}) {
            const Topology topology =
                machine.topology(16, {.routing = Routing::minimal, .background = {{"up", load}, {"core", load}}});
            const Seconds time = run(shift(32, by, 64_KiB), topology, machine).time;
            EXPECT_GE(time, before) << "by " << by << " at " << load;
            before = time;
        }
    }
}

TEST(message_traffic, asks_for_a_row_of_the_library) {
    const Machine machine = small(one_switch);
    const Topology topology = machine.topology(2);
    const std::vector<TrafficMessage> messages{message(0, 2, 1_KiB)};
    EXPECT_THROW(run_traffic(messages, topology, machine.info().library(), {.algorithm = {}, .protocol = "LL"}, {}),
                 RangeError);
}

}  // namespace
}  // namespace weft
