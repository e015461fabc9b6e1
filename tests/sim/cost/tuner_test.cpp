// Against times worked out by hand from RCCL's constants for MI250X (ROCm/rccl, src/graph/tuning.cc, commit 0cbce2a7,
// as in topologies/tuners/rccl-mi200.json).
#include "sim/cost/tuner.hpp"

#include <gtest/gtest.h>

#include "sim/base/check.hpp"
#include "tests/sim/collective/rccl_tuner.hpp"

namespace weft {
namespace {

double microseconds(const TunerTable& table, std::string_view algorithm, std::string_view protocol, Collective op,
                    GroupShape shape, Bytes message) {
    for (const TunerRow& row : table.rows) {
        if (row.algorithm == algorithm && row.protocol == protocol) {
            return predicted_time(table, row, op, shape, message).value * 1e6;
        }
    }
    throw LogicError("no such row");
}

const Tuner tuner = testing_support::rccl_tuner();
constexpr GroupShape one_node{.members = 8, .nodes = 1};
constexpr GroupShape eight_nodes{.members = 64, .nodes = 8};

// LL: 12 + 7 x 0.8 us, and 245 x 0.04 x 8/7 = 11.2 GB/s. Simple: 17 + 7 x 3.6 us, and 280 GB/s. They cross at 287 kB.
TEST(tuner, leaves_ll_for_an_all_gather_of_eight_dies_between_256_and_512_kib) {
    const auto time = [](std::string_view protocol, Bytes message) {
        return microseconds(tuner.in_node, "ring", protocol, Collective::all_gather, one_node, message);
    };
    EXPECT_NEAR(time("LL", 256_KiB), 17.6 + 262.144 / 11.2, 1e-9);
    EXPECT_NEAR(time("Simple", 256_KiB), 42.2 + 262.144 / 280.0, 1e-9);
    EXPECT_LT(time("LL", 256_KiB), time("Simple", 256_KiB));
    EXPECT_GT(time("LL", 512_KiB), time("Simple", 512_KiB));
}

// 14 rounds. LL: 12 + 14 x 0.8 us, and 5.6 GB/s; Simple: 17 + 14 x 3.6 us, and 140 GB/s. They cross at 258 kB.
TEST(tuner, leaves_the_ring_in_ll_for_an_all_reduce_of_eight_dies_between_128_and_256_kib) {
    const auto time = [](std::string_view protocol, Bytes message) {
        return microseconds(tuner.in_node, "ring", protocol, Collective::all_reduce, one_node, message);
    };
    EXPECT_NEAR(time("LL", 128_KiB), 23.2 + 131.072 / 5.6, 1e-9);
    EXPECT_NEAR(time("Simple", 256_KiB), 67.4 + 262.144 / 140.0, 1e-9);
    EXPECT_LT(time("LL", 128_KiB), time("Simple", 128_KiB));
    EXPECT_GT(time("LL", 256_KiB), time("Simple", 256_KiB));
}

// 63 steps, 7 of them across; in a node a step takes what the network needs at least (2 and 6 us).
TEST(tuner, counts_the_steps_that_cross_nodes_apart) {
    const auto time = [](std::string_view protocol, Bytes message) {
        return microseconds(tuner.across, "ring", protocol, Collective::all_gather, eight_nodes, message);
    };
    // 4 MiB = 64 x 2^16: corrections 0.4 and 0.2.
    EXPECT_NEAR(time("LL", 4_MiB), 12 + 56 * 2 + 7 * 9.5 + 4194.304 / (110 * 0.2 * 0.4 * 64 / 63), 1e-9);
    EXPECT_NEAR(time("Simple", 4_MiB), 17 + 56 * 6 + 7 * 19.8 + 4194.304 / (110 * 0.2 * 64 / 63), 1e-9);
    EXPECT_LT(time("LL", 4_MiB), time("Simple", 4_MiB));
    EXPECT_GT(time("LL", 8_MiB), time("Simple", 8_MiB));
}

// All-reduce: 2 x 63 steps, 2 x 8 across; broadcast: as many steps as members, one across per node.
TEST(tuner, knows_the_rounds_of_each_operation) {
    const auto time = [](Collective op) { return microseconds(tuner.across, "ring", "LL", op, eight_nodes, 64_B); };
    const double bytes = 64e-3 / (110 * 0.2 * 0.1);  // the smallest correction; in us without n / steps
    EXPECT_NEAR(time(Collective::all_reduce), 12 + 110 * 2 + 16 * 9.5 + bytes * 126 / 64, 1e-9);
    EXPECT_NEAR(time(Collective::broadcast), 12 + 56 * 2 + 8 * 9.5 + bytes, 1e-9);
}

// Two nodes of eight: 7 steps in the node and floor(log2 2) across, up and down; 1.75 of the bus, halved.
TEST(tuner, goes_up_and_down_a_tree) {
    const GroupShape two_nodes{.members = 16, .nodes = 2};
    const auto time = [](GroupShape shape) {
        return microseconds(tuner.across, "tree", "Simple", Collective::all_reduce, shape, 1_MiB);
    };
    EXPECT_NEAR(time(two_nodes), 17 + 2 * (7 * 2.5 + 22.4) + 1048.576 / (110 * 1.75 / 2), 1e-9);
    EXPECT_NEAR(time(eight_nodes), 17 + 2 * (7 * 2.5 + 3 * 22.4) + 1048.576 / (110 * 0.96 / 2), 1e-9);
}

TEST(tuner, corrects_by_the_size_and_keeps_the_last_correction_for_all_larger_ones) {
    const TunerTable table{.bus = 1_GBps, .rows = {{.algorithm = "ring", .correction = {0.5, 0.25}}}};
    const auto time = [&](Bytes message) {
        return predicted_time(table, table.rows.front(), Collective::broadcast, {.members = 4}, message).value;
    };
    EXPECT_DOUBLE_EQ(time(1_B), 1e-9 / 0.5);
    EXPECT_DOUBLE_EQ(time(127_B), 127e-9 / 0.5);
    EXPECT_DOUBLE_EQ(time(128_B), 128e-9 / 0.25);
    EXPECT_DOUBLE_EQ(time(4_GiB), 4.294967296 / 0.25);
}

TEST(tuner, takes_the_table_of_groups_inside_a_node_only_there) {
    EXPECT_EQ(&tuner.table(one_node), &tuner.in_node);
    EXPECT_EQ(&tuner.table(eight_nodes), &tuner.across);
}

TEST(tuner, refuses_algorithms_that_it_has_no_formula_for) {
    const TunerTable table{.bus = 1_GBps, .rows = {{.algorithm = "bruck"}}};
    EXPECT_THROW(predicted_time(table, table.rows.front(), Collective::all_gather, one_node, 1_KiB), LogicError);
}

}  // namespace
}  // namespace weft
