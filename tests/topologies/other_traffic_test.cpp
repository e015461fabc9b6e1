// What flows of others leave, against drawing them, and what holds of any.
#include "topologies/other_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "topologies/machine.hpp"

namespace weft {
namespace {

constexpr BytesPerSecond rate{25e9};

TEST(other_traffic, takes_its_share_on_average) {
    const Leftover left = leftover({.share = 0.25, .flow = 0.5, .ways = 4.0, .places = 9.0}, rate, std::nullopt);
    EXPECT_EQ(left.bandwidth, 0.75);
    EXPECT_EQ(left.waiting, waiting_time(0.25, rate));
}

// The flows of each place drawn as whole ones, of 20,000 steps the worst place each: the leftover at a quantile is what
// the flows drawn there leave or up to one fewer would, and a tenth for the luck of the draw.
TEST(other_traffic, leaves_at_a_quantile_what_drawn_flows_leave) {
    constexpr std::size_t steps = 20'000;
    std::mt19937_64 random(1);
    for (const Encounter& met : {Encounter{.share = 0.3, .flow = 1.0, .ways = 1.0, .places = 40.0},
                                 Encounter{.share = 0.3, .flow = 0.5, .ways = 18.0, .places = 12.0},
                                 Encounter{.share = 0.7, .flow = 0.25, .ways = 3.0, .places = 1.0}}) {
        std::poisson_distribution<int> flows(met.ways * met.share / met.flow);
        std::vector<int> worst(steps, 0);
        for (int& most : worst) {
            for (int place = 0; place < met.places; ++place) most = std::max(most, flows(random));
        }
        std::ranges::sort(worst);
        const auto left = [&](double there) {
            return std::max(1.0 - there * met.flow / met.ways, met.ways / (there + met.ways));
        };
        for (const double p : {0.5, 0.9, 0.99}) {
            const double drawn = worst[static_cast<std::size_t>(p * steps)];
            const double now = leftover(met, rate, p).bandwidth;
            EXPECT_LE(now, left(std::max(0.0, drawn - 1.1))) << p << " " << drawn;
            EXPECT_GE(now, left(drawn + 0.1)) << p << " " << drawn;
        }
    }
}

TEST(other_traffic, more_of_it_and_rarer_steps_leave_less_without_a_jump) {
    for (const double ways : {1.0, 30.0}) {
        double last = 1.0;
        for (double share = 0.001; share < 0.999; share += 0.001) {
            const Encounter met{.share = share, .flow = 1.0, .ways = ways, .places = 100.0};
            const Leftover usual = leftover(met, rate, 0.5), rare = leftover(met, rate, 0.99);
            EXPECT_LE(usual.bandwidth, last);
            EXPECT_GT(usual.bandwidth, last - 0.06) << share;
            EXPECT_LE(rare.bandwidth, usual.bandwidth);
            EXPECT_GE(rare.waiting, usual.waiting);
            EXPECT_GT(rare.bandwidth, 0.0);
            last = usual.bandwidth;
        }
    }
}

// Links of nodes and of their ports lose what is stated, those between switches what the quantile says.
TEST(other_traffic, is_met_between_switches) {
    const Machine machine = Machine::load("leonardo");
    Fabric fabric{.background = {{"infiniband.nic", 0.25}, {"infiniband.leaf_spine", 0.25}}};
    const Topology mean = machine.topology(256, fabric), alone = machine.topology(256, {});
    fabric.quantile = 0.95;
    const Topology met = machine.topology(256, fabric);
    for (LinkClassId id{}; id != met.classes.end_id(); id = next(id)) {
        const std::string& name = met.classes[id].name;
        const double left = met.classes[id].bandwidth / alone.classes[id].bandwidth;
        if (name == "infiniband.leaf_spine") {
            EXPECT_LT(left, 0.7);
        } else {
            EXPECT_EQ(met.classes[id].bandwidth, mean.classes[id].bandwidth) << name;
        }
    }
}

}  // namespace
}  // namespace weft
