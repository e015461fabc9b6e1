// Recorded programs on machines take what can be worked out by hand.
#include "workloads/recorded/replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/refusal.hpp"
#include "tests/workloads/recorded/traces.hpp"
#include "topologies/collective_set.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

using test::after;
using test::ChakraFile;
using test::read_chakra_files;
using test::read_goal_text;

struct Replayed {
    RecordedProgram program;
    Meetings meetings;
    RecordedRun run;
    ReplaySummary summary;

    double us() const { return since_start(run.over).value * 1e6; }
    double of(RankActivity what, std::size_t rank) const {
        return run.ranks[rank][static_cast<std::size_t>(what)].value * 1e6;
    }
};

const Machine& machine(const std::string& name) {
    static std::map<std::string, Machine> loaded;
    return loaded.try_emplace(name, Machine::load(name)).first->second;
}

std::uint32_t nodes_for(const Machine& on, std::size_t ranks) {
    return static_cast<std::uint32_t>((ranks - 1) / on.info().accelerators_per_node + 1);
}

Replayed replay_on(const std::string& name, RecordedProgram program, NetworkKind network = NetworkKind::flow) {
    const Machine& on = machine(name);
    const Topology topology = on.topology(nodes_for(on, program.ranks.size()));
    Meetings meetings = meet(program);
    const RecordedCosts costs = recorded_costs(program, meetings, topology, on.info().library());
    RecordedRun run = replay(program, meetings, costs, topology, network);
    ReplaySummary summary = summarize(program, meetings, costs, topology, run);
    return {std::move(program), std::move(meetings), std::move(run), std::move(summary)};
}

// What `weft collective --calls queued` says.
double collective_us(const std::string& name, Collective op, std::uint32_t ranks, Bytes message) {
    const Machine& on = machine(name);
    const Topology topology = on.topology(nodes_for(on, ranks));
    CollectiveSet set(topology, on.info().library(),
                      {.ranks = ranks, .ranks_per_node = std::min(ranks, on.info().accelerators_per_node)});
    return set.time(set.costs().require(op, message), message).value * 1e6;
}

// A message between two neighbours on a node: latency and bytes over bandwidth.
double message_us(const std::string& name, Bytes bytes) {
    return collective_us(name, Collective::point_to_point, 2, bytes);
}

TEST(replay, a_ping_pong_takes_its_messages_one_after_another) {
    for (const std::string name : {"dgx-h100", "frontier"}) {
        for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{65536}, std::uint64_t{67108864}}) {
            std::string ping, pong;
            for (int i = 0; i < 10; ++i) {
                ping += fmt::format("s{0}: send {1}b to 1 tag 1\nr{0}: recv {1}b from 1 tag 2\nr{0} requires s{0}\n", i,
                                    bytes);
                pong += fmt::format("r{0}: recv {1}b from 0 tag 1\ns{0}: send {1}b to 0 tag 2\ns{0} requires r{0}\n", i,
                                    bytes);
                if (i > 0) ping += fmt::format("s{} requires r{}\n", i, i - 1);
                if (i > 0) pong += fmt::format("r{} requires s{}\n", i, i - 1);
            }
            const Replayed run = replay_on(
                name, read_goal_text(fmt::format("num_ranks 2\nrank 0 {{\n{}}}\nrank 1 {{\n{}}}\n", ping, pong)));
            const double expected = 20 * message_us(name, Bytes{static_cast<double>(bytes)});
            EXPECT_NEAR(run.us(), expected, 1e-9 * expected) << name << ' ' << bytes;
        }
    }
}

// A binomial tree whose root sends first to the farthest, each send after the one before: the last is reached after a
// message for each bit, and sends beside it take nothing from it as long as they are short.
TEST(replay, a_binomial_tree_takes_a_message_for_each_level) {
    constexpr std::uint32_t ranks = 8;
    std::string text = fmt::format("num_ranks {}\n", ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        text += fmt::format("rank {} {{\n", rank);
        std::uint32_t level = 1;
        for (; level < ranks && level <= rank; level *= 2) {
        }
        if (rank > 0) text += fmt::format("r: recv 1b from {} tag 0\n", rank - level / 2);
        for (; level < ranks; level *= 2) {
            text += fmt::format("s{0}: send 1b to {1} tag 0\n", level, rank + level);
            if (rank > 0) text += fmt::format("s{} requires r\n", level);
        }
        text += "}\n";
    }
    const Replayed run = replay_on("dgx-h100", read_goal_text(text));
    const double expected = 3 * message_us("dgx-h100", 1_B);
    EXPECT_NEAR(run.us(), expected, 1e-3 * expected);
    const Replayed alone = replay_on("dgx-h100", read_goal_text(text), NetworkKind::ideal);
    EXPECT_NEAR(alone.us(), expected, 1e-9 * expected);
}

TEST(replay, a_buffered_send_does_not_wait_for_its_receiver) {
    const Replayed run =
        replay_on("dgx-h100", read_goal_text("num_ranks 2\n"
                                             "rank 0 { s: send 8b to 1 tag 0 }\n"
                                             "rank 1 { c: calc 1000000 r: recv 8b from 0 tag 0 r requires c }\n"));
    EXPECT_NEAR(run.us(), 1000.0, 1e-6);
    EXPECT_LT(run.summary.rank_ends[0].value, 50e-6);
    EXPECT_NEAR(run.of(RankActivity::computing, 1), 1000.0, 1e-6);
}

TEST(replay, a_core_computes_one_thing_at_a_time_and_cores_do_beside_one_another) {
    const auto us = [](const std::string& second) {
        return replay_on("dgx-h100",
                         read_goal_text("num_ranks 1\nrank 0 { a: calc 1000 b: calc 2000 " + second + " }\n"))
            .us();
    };
    EXPECT_NEAR(us("cpu 0"), 3.0, 1e-9);
    EXPECT_NEAR(us("cpu 1"), 2.0, 1e-9);
}

TEST(replay, irequires_waits_for_the_begin_alone) {
    const auto us = [](const std::string& relation) {
        return replay_on("dgx-h100",
                         read_goal_text("num_ranks 1\nrank 0 { a: calc 1000 b: calc 5000 cpu 1 c: calc 3000 cpu 2\n"
                                        "b requires a c " +
                                        relation + " b }\n"))
            .us();
    };
    EXPECT_NEAR(us("irequires"), 6.0, 1e-9);
    EXPECT_NEAR(us("requires"), 9.0, 1e-9);
}

TEST(replay, a_collective_takes_what_weft_collective_says) {
    struct Case {
        std::uint64_t type;
        Collective op;
        double messages;  // full, of what a rank puts in
    };
    for (const std::string name : {"dgx-h100", "frontier"}) {
        for (const Case& each : {Case{0, Collective::all_reduce, 1}, Case{2, Collective::all_gather, 16},
                                 Case{7, Collective::reduce_scatter, 1}, Case{6, Collective::all_to_all, 1}}) {
            for (const std::uint64_t bytes : {std::uint64_t{4096}, std::uint64_t{16777216}}) {
                std::vector<ChakraFile> files(16);
                for (ChakraFile& file : files) file.collective(1, each.type, bytes);
                const Replayed run = replay_on(name, read_chakra_files(files));
                const double expected = collective_us(name, each.op, 16, Bytes{bytes * each.messages});
                EXPECT_NEAR(run.us(), expected, 1e-6 * expected) << name << ' ' << bytes;
            }
        }
    }
}

TEST(replay, the_times_of_a_rank_sum_to_the_step_and_the_critical_path_has_no_gap) {
    std::vector<ChakraFile> files(4);
    for (std::uint64_t i = 0; i < 4; ++i) {
        files[i].compute(1, 100 * (i + 1)).collective(2, 0, 1 << 20, after(1)).compute(3, 50, after(2));
    }
    files[0].send(4, 3, 1 << 16);
    files[3].receive(4, 0, 1 << 16);
    const Replayed run = replay_on("dgx-h100", read_chakra_files(files));
    const double all_reduce = collective_us("dgx-h100", Collective::all_reduce, 4, 1_MiB);
    EXPECT_NEAR(run.us(), 450 + all_reduce, 0.02 * all_reduce);
    for (std::size_t rank = 0; rank < 4; ++rank) {
        const double sum = std::accumulate(run.run.ranks[rank].begin(), run.run.ranks[rank].end(), Seconds{}).value;
        EXPECT_NEAR(sum * 1e6, run.us(), 1e-9 * run.us());
    }
    EXPECT_NEAR(run.of(RankActivity::waiting, 1), 200, 1e-6);
    const auto path = critical_path(run.program, run.meetings, run.run);
    ASSERT_FALSE(path.empty());
    EXPECT_EQ(path.front().begin, Instant{});
    EXPECT_EQ(path.back().end, run.run.over);
    for (std::size_t i = 1; i < path.size(); ++i) EXPECT_EQ(path[i].begin, path[i - 1].end);
}

TEST(replay, computation_is_scaled_or_taken_from_another_device) {
    const auto program = [] {
        return read_chakra_files(
            {ChakraFile().compute(1, 100, test::attribute("num_ops", 1'000'000'000'000)).compute(2, 70, after(1))});
    };
    RecordedProgram twice = program();
    scale_computation(twice, 2.0);
    EXPECT_NEAR(replay_on("dgx-h100", twice).us(), 340, 1e-6);
    RecordedProgram other = program();
    const Device device = load_device("h100");
    compute_on(other, device);
    EXPECT_EQ(other.ranks[0].nodes[1].time.value, 70e-6);
    EXPECT_GT(other.ranks[0].nodes[0].time, Flops{1e12} / device.peak(Precision::bf16));
    ASSERT_EQ(other.notes.size(), 1U);
    EXPECT_NE(other.notes[0].find("1 of 2 computations"), std::string::npos);
}

TEST(replay, ranks_that_wait_for_one_another_are_named) {
    std::vector<ChakraFile> files(2);
    const std::string pair = test::text_attribute("pg_name", "pair");
    files[0].receive(1, 1, 8).node(2, 5, test::attribute("comm_dst", 1) + test::attribute("comm_size", 8) + after(1));
    files[1].receive(1, 0, 8).node(2, 5, test::attribute("comm_dst", 0) + test::attribute("comm_size", 8) + after(1));
    const std::string refusal = test::refusal_of([&] { replay_on("dgx-h100", read_chakra_files(files)); });
    EXPECT_NE(refusal.find("rank.0.et: error: node 1: waits for ever"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("rank.1.et: error: node 1: waits for ever"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace weft
