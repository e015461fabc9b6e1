#include "tests/sim/explicit/explicit_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/check.hpp"
#include "tests/sim/collective/members.hpp"
#include "tests/sim/collective/toy_crossbar.hpp"
#include "tests/sim/collective/two_ways.hpp"
#include "tests/sim/engine/explicit_twin.hpp"

namespace weft {
namespace {

using testing_support::first_ranks;
using testing_support::toy_crossbar;
using testing_support::twin_time;

const Library library{.name = "toy", .launch = 4_us};
const ProtocolCost protocol{
    .launch = 2_us, .step_in_node = 1_us, .step_across = 3_us, .efficiency_in_node = 0.5, .efficiency_across = 0.8};

// Nodes of three or four; members 1 and 4 have a third of the bandwidth, so that nobody keeps step for long.
Topology uneven_crossbar(std::uint32_t ranks, std::uint32_t per_node) {
    Topology topology = toy_crossbar(ranks, per_node, 30_GBps, 0.25_us);
    const LinkClassId slow = topology.classes.push_back({"slow", 10_GBps, 10_GBps, 0.25_us});
    for (const std::uint32_t rank : {1U, 4U}) {
        if (rank >= ranks) continue;
        for (const std::uint32_t link : {2 * rank, 2 * rank + 1}) topology.set_class(LinkId{link}, slow);
    }
    return topology;
}

GroupShape shape_on(std::uint32_t n, std::uint32_t per_node) { return {.members = n, .nodes = n / per_node}; }

// The program knows one message of a member and round.
bool sends_to_all_at_once(const Algorithm& algorithm, const GroupShape& shape) {
    return std::ranges::any_of(algorithm.phases(shape), [](const Phase& phase) { return phase.peer == Peer::all; });
}

TEST(explicit_run, agrees_with_a_program_that_has_an_exchange_per_message) {
    std::size_t compared = 0;
    for (const std::uint32_t per_node : {3U, 4U}) {
        for (const std::uint32_t nodes : {1U, 2U, 4U}) {
            const GroupShape shape = shape_on(nodes * per_node, per_node);
            const Topology topology = uneven_crossbar(shape.members, per_node);
            const Communicator communicator{{first_ranks(shape.members)}};
            for (const Algorithm* const algorithm : collective::all()) {
                if (!algorithm->runs(shape) || !has_rounds(*algorithm, shape)) continue;
                if (sends_to_all_at_once(*algorithm, shape)) continue;
                for (const Waits waits : {Waits::sends, Waits::sends_and_receives}) {
                    const ExplicitRun run =
                        run_explicitly(*algorithm, shape, communicator, 6_MiB, waits, topology, library, protocol);
                    const Seconds twin =
                        twin_time(*algorithm, shape, communicator.channels.front(), 6_MiB, waits, topology, protocol);
                    EXPECT_NEAR((run.time - 6_us) / twin, 1.0, 1e-9)
                        << name(algorithm->op) << " " << algorithm->name << " among " << shape.members;
                    ++compared;
                }
            }
        }
    }
    EXPECT_GT(compared, 100u);
}

// n - 1 messages of S/n, each after 3.5 us: nobody is in anybody's way.
TEST(explicit_run, of_a_pairwise_all_to_all_on_an_idle_crossbar_takes_its_closed_form) {
    const Algorithm& pairwise = *find_algorithm(Collective::all_to_all, "pairwise");
    for (const std::uint32_t n : {2U, 5U, 64U}) {
        const Topology topology = toy_crossbar(n, 1, 10_GBps, 0.25_us);
        const ProtocolCost plain{.step_across = 3_us};
        const ExplicitRun run = run_explicitly(pairwise, shape_on(n, 1), {{first_ranks(n)}}, 10_MiB, Waits::sends,
                                               topology, library, plain);
        EXPECT_NEAR(run.time.value, 4e-6 + (n - 1.0) * (3.5e-6 + 10 * 1048576.0 / n / 10e9), 1e-12);
        EXPECT_EQ(run.messages, n * (n - 1));
    }
}

TEST(explicit_run, of_a_direct_all_to_all_starts_all_messages_together) {
    const Topology topology = toy_crossbar(6, 1, 10_GBps, 0.25_us);
    const ProtocolCost plain{.step_across = 3_us};
    const ExplicitRun run = run_explicitly(*find_algorithm(Collective::all_to_all, "direct"), shape_on(6, 1),
                                           {{first_ranks(6)}}, 60_MiB, Waits::sends, topology, library, plain);
    EXPECT_NEAR(run.time.value, 4e-6 + 3.5e-6 + 50 * 1048576.0 / 10e9, 1e-12);
    EXPECT_EQ(run.messages, 30u);
}

// Two rings round the same members, each with half of the message, share every link.
TEST(explicit_run, channels_run_beside_each_other) {
    const Topology topology = toy_crossbar(4, 1, 10_GBps, 0.25_us);
    const ProtocolCost plain{.step_across = 3_us};
    const Algorithm& ring = *find_algorithm(Collective::all_gather, "ring");
    const ExplicitRun run = run_explicitly(ring, shape_on(4, 1), {{first_ranks(4), first_ranks(4)}}, 40_MiB,
                                           Waits::sends_and_receives, topology, library, plain);
    EXPECT_NEAR(run.time.value, 4e-6 + 3 * 3.5e-6 + 30 * 1048576.0 / 10e9, 1e-12);
    EXPECT_EQ(run.messages, 24u);
}

// Links of 10 GB/s, of which the protocol gets 2 in a node and 1 where the group spans nodes; half of it each channel.
TEST(explicit_run, no_message_goes_faster_than_its_protocol) {
    const ProtocolCost slow{.rate_in_node = 2_GBps, .rate_across = 1_GBps};
    const Algorithm& pairwise = *find_algorithm(Collective::all_to_all, "pairwise");
    const Algorithm& direct = *find_algorithm(Collective::all_to_all, "direct");
    for (const std::uint32_t nodes : {1U, 2U}) {
        const Topology topology = toy_crossbar(4, 4 / nodes, 10_GBps, 0_us);
        const double expected = 4e-6 + 3 * 1048576.0 / (nodes == 1 ? 2e9 : 1e9);
        for (const std::size_t count : {1U, 2U}) {
            const Communicator channels{std::vector(count, first_ranks(4))};
            const ExplicitRun run = run_explicitly(pairwise, shape_on(4, 4 / nodes), channels, 4_MiB, Waits::sends,
                                                   topology, library, slow);
            EXPECT_NEAR(run.time.value, expected, 1e-12);
            const ExplicitRun at_once =
                run_explicitly(direct, shape_on(4, 4 / nodes), channels, 4_MiB, Waits::sends, topology, library, slow);
            EXPECT_NEAR(at_once.time.value, expected, 1e-12) << "to all peers together";
        }
    }
}

// Two messages of 5 MiB from 0 to 1 at once, over 10 GB/s straight on and as much on each of the detours. Adaptively
// the first goes straight and the second round, after 2 us on links.
TEST(explicit_run, messages_avoid_each_other_where_the_fabric_routes_adaptively) {
    const ProtocolCost plain{};
    const auto time = [&](Routing routing) {
        const Topology topology = testing_support::two_ways(routing, 100_GBps, 10_GBps, 1);
        return run_explicitly(*find_algorithm(Collective::point_to_point, "direct"), shape_on(2, 1),
                              {{first_ranks(2), first_ranks(2)}}, 10_MiB, Waits::sends, topology, library, plain)
            .time.value;
    };
    EXPECT_NEAR(time(Routing::minimal), 6e-6 + 10 * 1048576.0 / 10e9, 1e-12);
    EXPECT_NEAR(time(Routing::adaptive), 6e-6 + 5 * 1048576.0 / 10e9, 1e-12);
    EXPECT_NEAR(time(Routing::valiant), 6e-6 + 10 * 1048576.0 / 10e9, 1e-12);
}

TEST(explicit_run, of_nothing_takes_its_latencies_and_of_one_member_a_launch) {
    const Topology topology = toy_crossbar(4, 1, 10_GBps, 0.25_us);
    const ProtocolCost plain{.step_across = 3_us};
    const Algorithm& ring = *find_algorithm(Collective::all_reduce, "ring");
    const auto time = [&](std::uint32_t n) {
        return run_explicitly(ring, shape_on(n, 1), {{first_ranks(n)}}, {}, Waits::sends_and_receives, topology,
                              library, plain)
            .time.value;
    };
    EXPECT_NEAR(time(4), 4e-6 + 6 * 3.5e-6, 1e-15);
    EXPECT_EQ(time(1), 4e-6);
}

// Judged by the transfers: does anybody send a block that is not its own?
TEST(explicit_run, members_wait_for_receives_where_they_pass_blocks_on) {
    const GroupShape shape = shape_on(12, 3);
    for (const Algorithm* const algorithm : collective::all()) {
        if (algorithm->op != Collective::all_to_all) continue;
        bool passes_on = false;
        for (const Transfer& t : algorithm->transfers(shape)) passes_on |= t.chunk / shape.members != t.from;
        EXPECT_EQ(waits_of(*algorithm, shape), passes_on ? Waits::sends_and_receives : Waits::sends) << algorithm->name;
    }
    EXPECT_EQ(waits_of(*find_algorithm(Collective::all_reduce, "ring"), shape), Waits::sends_and_receives);
    EXPECT_EQ(waits_of(*find_algorithm(Collective::send_receive, "ring"), shape), Waits::sends);
}

TEST(explicit_run, refuses_algorithms_without_rounds_and_shapes_that_do_not_fit) {
    const Topology topology = toy_crossbar(4, 4, 10_GBps, 0_us);
    const auto run = [&](Collective op, std::string_view algorithm, std::uint32_t members) {
        return run_explicitly(*find_algorithm(op, algorithm), shape_on(members, members), {{first_ranks(4)}}, 1_KiB,
                              Waits::sends, topology, library, protocol);
    };
    EXPECT_THROW(run(Collective::all_reduce, "tree", 4), LogicError);
    EXPECT_THROW(run(Collective::all_reduce, "nvls", 4), LogicError);
    EXPECT_THROW(run(Collective::all_reduce, "hierarchical", 4), LogicError);
    EXPECT_THROW(run(Collective::all_reduce, "ring", 3), LogicError);
    EXPECT_FALSE(has_rounds(*find_algorithm(Collective::all_reduce, "tree"), shape_on(4, 4)));
    EXPECT_TRUE(has_rounds(*find_algorithm(Collective::all_reduce, "ring"), shape_on(4, 4)));
}

}  // namespace
}  // namespace weft
