#include <gmock/gmock.h>

#include "tests/workloads/formats/imported_machine.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::string network_of(const std::string& blocks, const std::string& npus, const std::string& bandwidth,
                       const std::string& latency) {
    return "topology: [" + blocks + "]\nnpus_count: [" + npus + "]\nbandwidth: [" + bandwidth + "]\nlatency: [" +
           latency + "]\n";
}

Machine machine(const std::string& text, const std::string& like = "dgx-h100") {
    return machine_of(import_platform("astra-sim", text, like));
}

std::string refusal(const std::string& text, const std::string& like = "dgx-h100") {
    return platform_refusal("astra-sim", text, like);
}

TEST(astra_sim, one_dimension_is_a_node) {
    const Machine npus = machine(network_of("Switch", "8", "400.0", "936.25"));
    EXPECT_EQ(npus.info().nodes, 1U);
    EXPECT_EQ(npus.info().accelerators_per_node, 8U);
    EXPECT_EQ(npus.info().device, "h100");
    const Topology topology = npus.topology(1);
    const Route route = topology.route(RankId{0}, RankId{5});
    ASSERT_EQ(route.hops, 2U);  // through the switch
    const LinkClass link = link_class_of(topology, "dimension_1");
    EXPECT_DOUBLE_EQ(link.bandwidth.value, 400.0 * 1024 * 1024 * 1024);
    EXPECT_NEAR(link.latency.value, 936.25e-9, 1e-15);
}

TEST(astra_sim, rings_and_full_connections_are_links_between_npus) {
    const Topology ring = machine(network_of("Ring", "6", "50", "500")).topology(1);
    EXPECT_EQ(ring.route(RankId{0}, RankId{5}).hops, 1U);
    EXPECT_EQ(ring.route(RankId{0}, RankId{3}).hops, 3U);
    const Topology full = machine(network_of("FullyConnected", "6", "50", "500")).topology(1);
    EXPECT_EQ(full.route(RankId{0}, RankId{3}).hops, 1U);
}

TEST(astra_sim, a_switch_around_nodes_joins_those_with_one_place) {
    const Machine npus = machine(network_of("FullyConnected, Switch", "4, 16", "100, 25", "250, 1000"));
    EXPECT_EQ(npus.info().nodes, 16U);
    EXPECT_EQ(npus.info().nics_per_node, 4U);
    const double gib = 1024.0 * 1024 * 1024;
    EXPECT_NEAR(npus.info().bisection.value, 16 * 4 / 2.0 * 25 * gib, 1.0);
    const Topology topology = npus.topology(16);
    // Out of the node, to the switch, back: two links with latency.
    EXPECT_NEAR(latency_between(topology, 1, 4 * 9 + 1), 2000e-9, 1e-15);
}

TEST(astra_sim, equal_rings_in_all_dimensions_are_a_torus_of_chips) {
    const Machine torus = machine(network_of("Ring, Ring, Ring", "4, 4, 2", "50, 50, 50", "500, 500, 500"), "tpu-v4");
    EXPECT_EQ(torus.info().nodes, 32U);
    EXPECT_EQ(torus.info().accelerators_per_node, 1U);
    EXPECT_EQ(torus.info().device, "tpu-v4");
}

TEST(astra_sim, dimensions_of_one_npu_are_nothing) {
    EXPECT_EQ(machine(network_of("Ring, Switch, Ring", "1, 8, 1", "1, 2, 3", "1, 2, 3")).info().accelerators_per_node,
              8U);
}

TEST(astra_sim, says_how_it_counts_bytes_and_what_it_does_not_know) {
    const Import import =
        import_platform("astra-sim", network_of("Switch", "8", "400", "900") + "npus_order: [1]\n", "dgx-h100");
    ASSERT_EQ(import.notes.size(), 2U);
    EXPECT_EQ(import.notes[0].origin.key, "npus_order");
    EXPECT_THAT(import.notes[1].message, HasSubstr("2^30"));
}

TEST(astra_sim, what_weft_has_no_network_for_is_refused_with_its_place) {
    EXPECT_THAT(refusal(network_of("Switch", "8", "400", "900"), ""), HasSubstr("--like MACHINE"));
    EXPECT_THAT(refusal(network_of("Switch, Switch, Switch", "8, 4, 2", "9, 8, 7", "1, 1, 1")),
                HasSubstr("platform:1: error: topology: around a node weft has one network"));
    EXPECT_THAT(refusal(network_of("Switch, FullyConnected", "8, 4", "9, 8", "1, 1")), HasSubstr("one network"));
    EXPECT_THAT(refusal(network_of("Ring", "1000", "9", "1")), HasSubstr("more than a node of weft has"));
}

TEST(astra_sim, mistakes_are_told_at_their_lines) {
    EXPECT_THAT(refusal(network_of("Mesh", "8", "400", "900")), HasSubstr("expected Ring, FullyConnected or Switch"));
    EXPECT_THAT(refusal(network_of("Switch", "8, 8", "400", "900")), HasSubstr("npus_count: has 2 entries for 1"));
    EXPECT_THAT(refusal(network_of("Switch", "0", "400", "900")), HasSubstr("platform:2:"));
    EXPECT_THAT(refusal(network_of("Switch", "1e30", "400", "900")), HasSubstr("platform:2:"));
    EXPECT_THAT(refusal(network_of("Switch", "8", "-1", "900")), HasSubstr("platform:3:"));
    EXPECT_THAT(refusal("topology: [Switch]\nnpus_count: 8\n"), HasSubstr("npus_count: expected a list"));
    EXPECT_THAT(refusal(network_of("", "", "", "")), HasSubstr("expected at least one dimension"));
}

}  // namespace
}  // namespace weft
