// RCCL's constants for MI250X nodes: ROCm/rccl, src/graph/tuning.cc, commit 0cbce2a7 (24 Oct 2024), "tuning 0" in a
// node and "tuning 3" across, with the bus bandwidths of topologies/tuners/rccl-mi200.json. Rows that tests need.
#pragma once

#include "sim/cost/library.hpp"

namespace weft::testing_support {

inline Tuner rccl_tuner() {
    const TunerRow ring_ll{.algorithm = "ring", .protocol = "LL", .base = 12_us, .in_node = 0.8_us, .across = 9.5_us};
    const TunerRow ring_simple{
        .algorithm = "ring", .protocol = "Simple", .base = 17_us, .in_node = 3.6_us, .across = 15.1_us};
    Tuner tuner{.in_node = {.bus = 245_GBps, .rows = {ring_ll, ring_simple}},
                .across = {.bus = 110_GBps, .extra_across = 2, .rows = {ring_ll, ring_simple}}};
    tuner.in_node.rows[0].ratio = {0.04, 0.04};

    TunerRow& ll = tuner.across.rows[0];
    ll.post = 2_us;
    ll.ratio = {0.2, 0.2};
    ll.correction = {0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.1, 0.2, 0.1, 0.4, 0.4, 0.2, 0.2, 0.3,
                     0.7, 0.5, 0.4, 0.3, 0.3, 0.3, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2};
    TunerRow& simple = tuner.across.rows[1];
    simple.across = 19.8_us;
    simple.post = 6_us;
    simple.correction = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.5, 1.0, 0.1, 0.3, 0.1, 0.1, 0.1,
                         0.2, 0.2, 0.2, 0.3, 0.4, 0.7, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    TunerRow tree{.algorithm = "tree", .protocol = "Simple", .base = 17_us, .in_node = 2.5_us, .across = 22.4_us};
    tree.post = 6_us;
    tree.ratio = {1.75, 0.96};
    tree.correction = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.2, 1.0, 0.8, 1.0, 1.0,
                       1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.8, 0.7, 0.8, 0.9, 0.7, 0.7};
    tuner.across.rows.push_back(tree);
    return tuner;
}

}  // namespace weft::testing_support
