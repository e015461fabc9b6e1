// Against times worked out by hand from RCCL's constants for MI250X (ROCm/rccl, src/graph/tuning.cc, commit 0cbce2a7,
// as in topologies/tuners/rccl-mi200.json), and against what NCCL prints.
#include "sim/cost/library.hpp"

#include <gtest/gtest.h>

#include "sim/base/check.hpp"
#include "tests/sim/collective/rccl_tuner.hpp"

namespace weft {
namespace {

double microseconds(const TunerTable& table, std::string_view algorithm, std::string_view protocol, Collective op,
                    GroupShape shape, Bytes message) {
    for (const TunerRow& row : table.rows) {
        if (row.algorithm == algorithm && row.protocol == protocol) {
            return predicted_time(table, row, table.bus.value(), op, shape, message).value * 1e6;
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

// A log of NCCL 2.23 on 3 nodes of 8 H100 (NVIDIA/nccl issue 1453) names the time that it predicts for each choice; its
// bus is 192 GB/s there, trees reach 0.92 x 0.85 of it, and LL 20.4 GB/s.
TEST(tuner, predicts_what_a_log_of_nccl_says) {
    const GroupShape three_nodes{.members = 24, .nodes = 3};
    const BytesPerSecond bus = 192_GBps;
    const TunerRow ll{.algorithm = "tree",
                      .protocol = "LL",
                      .base = 6.8_us,
                      .in_node = 0.6_us,
                      .across = 5_us,
                      .ratio = {0.85 * 0.92 / 3.8, 0.85 * 0.92 / 3.8},
                      .most = {33.15_GBps, 17.34_GBps},
                      .correction = {1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6}};
    const TunerRow ll128{.algorithm = "tree",
                         .protocol = "LL128",
                         .base = 14_us,
                         .in_node = 1.25_us,
                         .across = 8.5_us,
                         .ratio = {1.0, 0.85 * 0.92 * 120 / 128},
                         .correction = {1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6}};
    const auto time = [&](const TunerRow& row, Bytes message) {
        return predicted_time({}, row, bus, Collective::all_reduce, three_nodes, message).value * 1e6;
    };
    EXPECT_NEAR(time(ll, 8_B), 25.200924, 1e-5);
    EXPECT_NEAR(time(ll, 128_B), 25.214764, 1e-5);
    EXPECT_NEAR(time(ll, 64_KiB), 37.798233, 1e-5);
    EXPECT_NEAR(time(ll128, 128_KiB), 51.603912, 1e-5);
    EXPECT_NEAR(time(ll128, 256_KiB), 54.707825, 1e-5);
}

// What a ring on n members of one node that reaches 360 GB/s, and NVLS, come to: the table that NCCL 2.30.4 prints for
// 8 H200 says 205.7 and 272.0 GB/s, 56.0 and 25.0 us.
TEST(tuner, knows_the_switch_that_adds) {
    const TunerRow ring{.algorithm = "ring", .protocol = "Simple", .base = 8.4_us, .in_node = 3.4_us, .across = 14_us};
    const TunerRow nvls{.algorithm = "nvls",
                        .protocol = "Simple",
                        .in_node = 25_us,
                        .ratio = {2 * 0.85 * 320 / 360, 0},
                        .channel = {102_GBps, {}}};
    const auto time = [&](const TunerRow& row, Bytes message) {
        return predicted_time({}, row, 360_GBps, Collective::all_reduce, one_node, message).value * 1e6;
    };
    EXPECT_NEAR(time(ring, {}), 56.0, 1e-9);
    EXPECT_NEAR(time(nvls, {}), 25.0, 1e-9);
    EXPECT_NEAR(1e3 / (time(ring, 1_GB) - 56.0), 0.2057, 1e-4);
    EXPECT_NEAR(1e3 / (time(nvls, 1_GB) - 25.0), 0.2720, 1e-4);
}

// Alone on its node, a member goes by the latency of trees; an all-reduce across nodes reaches a plateau.
TEST(tuner, knows_rings_with_one_member_on_each_node) {
    const TunerRow ring{.algorithm = "ring",
                        .protocol = "Simple",
                        .base = 8_us,
                        .in_node = 3_us,
                        .across = 2_us,
                        .across_alone = 5_us,
                        .post = 4_us,
                        .plateau = 1.5};
    const auto time = [&](Collective op, GroupShape shape) {
        return predicted_time({}, ring, 1_GBps, op, shape, {}).value * 1e6;
    };
    EXPECT_NEAR(time(Collective::all_gather, {.members = 4, .nodes = 4}), 8 + 3 * 5, 1e-9);
    EXPECT_NEAR(time(Collective::all_gather, {.members = 8, .nodes = 4}), 8 + 3 * 2 + 4 * 4, 1e-9);
    EXPECT_NEAR(time(Collective::all_reduce, {.members = 8, .nodes = 4}), 1.5 * (8 + 6 * 2 + 8 * 4), 1e-9);
    EXPECT_NEAR(time(Collective::all_reduce, {.members = 8, .nodes = 1}), 8 + 14 * 3, 1e-9);
}

// 16 GPUs alone on their nodes; and channels, of which a GPU has two where there are few on a node.
TEST(tuner, knows_pat_and_limits_of_channels) {
    const GroupShape alone{.members = 16, .nodes = 16}, pairs{.members = 32, .nodes = 16};
    const TunerRow pat{.algorithm = "pat", .base = 8_us, .in_node = 2.8_us, .across = 4_us, .ratio = {1.0, 0.75}};
    const auto time = [](const TunerTable& table, const TunerRow& row, GroupShape shape, Bytes message) {
        return predicted_time(table, row, 40_GBps, Collective::all_gather, shape, message).value * 1e6;
    };
    EXPECT_NEAR(time({}, pat, alone, 3_GB), 8 + 16 * 2.8 + 4 * 4 + 3e9 / 30e3, 1e-9);
    const TunerRow limited{.algorithm = "ring", .channel = {100_GBps, 10_GBps}};
    const double share = 32.0 / 31.0;
    EXPECT_NEAR(time({}, limited, pairs, 3_GB), 3e9 / (20e3 * share), 1e-9);
    EXPECT_NEAR(time({.doubled_up_to = 2}, limited, pairs, 3_GB), 3e9 / (40e3 * share), 1e-9);
}

TEST(tuner, corrects_by_the_size_and_keeps_the_last_correction_for_all_larger_ones) {
    const TunerTable table{.bus = 1_GBps, .rows = {{.algorithm = "ring", .correction = {0.5, 0.25}}}};
    const auto time = [&](Bytes message) {
        return predicted_time(table, table.rows.front(), 1_GBps, Collective::broadcast, {.members = 4}, message).value;
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
    EXPECT_THROW(predicted_time(table, table.rows.front(), 1_GBps, Collective::all_gather, one_node, 1_KiB),
                 LogicError);
}

}  // namespace
}  // namespace weft
