#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/workloads/formats/imported_machine.hpp"
#include "workloads/formats/simgrid_values.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

std::string platform(const std::string& attributes, const std::string& radical) {
    return fmt::format(R"(<platform version="4.1"><zone id="w" routing="Full">
<cluster id="c" prefix="n" suffix="" radical="{}" speed="1Gf" bw="125MBps" lat="50us"
 {}/></zone></platform>)",
                       radical, attributes);
}

Machine machine(const std::string& attributes, const std::string& radical) {
    return machine_of(import_platform("simgrid", platform(attributes, radical), "dgx-h100"));
}

std::string refusal(const std::string& attributes, const std::string& radical) {
    return platform_refusal("simgrid", platform(attributes, radical));
}

TEST(simgrid, values_are_read_as_it_writes_them) {
    EXPECT_EQ(simgrid_bandwidth("125MBps"), 125e6);
    EXPECT_EQ(simgrid_bandwidth("10 Gbps"), 1.25e9);
    EXPECT_EQ(simgrid_bandwidth("1KiBps"), 1024.0);
    EXPECT_EQ(simgrid_bandwidth("7"), 7.0);
    EXPECT_EQ(simgrid_bandwidth("125MB"), std::nullopt);
    EXPECT_EQ(simgrid_bandwidth("-1Bps"), std::nullopt);
    EXPECT_DOUBLE_EQ(simgrid_seconds("50us").value(), 50e-6);
    EXPECT_EQ(simgrid_seconds("50 parsecs"), std::nullopt);
    EXPECT_EQ(simgrid_hosts("0-3,5,7-9"), 8U);
    EXPECT_EQ(simgrid_hosts("3-0"), 0U);
    EXPECT_EQ(simgrid_parameters("2;4,4;1,2;1,2").size(), 4U);
    EXPECT_TRUE(simgrid_parameters("2;4,;1").empty());
    EXPECT_TRUE(simgrid_parameters("2;0").empty());
}

TEST(simgrid, a_flat_cluster_is_one_switch) {
    const Machine flat = machine(R"(bb_bw="1GBps" bb_lat="10us")", "0-7");
    EXPECT_EQ(flat.info().nodes, 8U);
    EXPECT_EQ(flat.info().accelerators_per_node, 1U);
    EXPECT_EQ(flat.info().device, "h100");
    EXPECT_NEAR(latency_between(flat.topology(8), 0, 7), 110e-6, 1e-12);  // up, backbone, down
    EXPECT_THAT(refusal(R"(bb_bw="500MBps" bb_lat="10us")", "0-7"), HasSubstr("is narrower than the 1e+09 B/s"));
}

TEST(simgrid, a_fat_tree_has_its_levels) {
    const Machine tree = machine(R"(topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2")", "0-15");
    EXPECT_EQ(tree.info().nodes, 16U);
    const Topology topology = tree.topology(16);
    EXPECT_EQ(topology.vertices_of(NodeKind::network_switch), 4U + 2U);
    EXPECT_NEAR(latency_between(topology, 0, 3), 100e-6, 1e-12);
    EXPECT_NEAR(latency_between(topology, 0, 15), 200e-6, 1e-12);
    EXPECT_NEAR(tree.info().bisection.value, 16 / 2 * 125e6, 1.0);
}

TEST(simgrid, a_torus_is_one) {
    const Machine torus = machine(R"(topology="TORUS" topo_parameters="3,2,2")", "0-11");
    EXPECT_EQ(torus.info().nodes, 12U);
    EXPECT_NEAR(latency_between(torus.topology(12), 0, 1), 50e-6, 1e-12);
}

TEST(simgrid, a_dragonfly_is_one_where_every_two_routers_of_a_group_are_joined) {
    const Machine dragonfly = machine(R"(topology="DRAGONFLY" topo_parameters="3,4;1,1;5,2;2")", "0-29");
    EXPECT_EQ(dragonfly.info().nodes, 30U);
    EXPECT_EQ(dragonfly.topology(30).vertices_of(NodeKind::network_switch), 15U);
    EXPECT_THAT(refusal(R"(topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2")", "0-119"),
                HasSubstr("topo_parameters: 4 chassis of 5 routers"));
}

TEST(simgrid, what_is_not_taken_over_is_said) {
    const Import import = import_platform(
        "simgrid", platform(R"(topology="TORUS" topo_parameters="3,4" limiter_link="150MBps" colour="red")", "0-11"),
        "dgx-h100");
    std::string noted;
    for (const FormatNote& note : import.notes) noted += note.origin.key + ";";
    EXPECT_THAT(noted, HasSubstr("speed;"));
    EXPECT_THAT(noted, HasSubstr("limiter_link;"));
    EXPECT_THAT(noted, HasSubstr("colour;"));
}

TEST(simgrid, what_weft_has_no_network_for_is_refused) {
    EXPECT_THAT(platform_refusal("simgrid", R"(<platform version="4.1"><zone id="a" routing="Full">
<host id="h1" speed="1Gf"/><host id="h2" speed="1Gf"/><link id="l" bandwidth="1GBps" latency="1us"/>
<route src="h1" dst="h2"><link_ctn id="l"/></route></zone></platform>)"),
                HasSubstr("platform:2: error: host: <host>: a platform that is written host by host"));
    EXPECT_THAT(platform_refusal("simgrid", "<platform/>"), HasSubstr("has 0 of them"));
    EXPECT_THAT(platform_refusal("simgrid", platform("", "0-3"), ""), HasSubstr("--like MACHINE"));
    EXPECT_THAT(refusal(R"(topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2")", "0-14"),
                HasSubstr("make 16 nodes, and radical names 15"));
    EXPECT_THAT(refusal(R"(topology="FAT_TREE" topo_parameters="2;4,4;2,2;1,2")", "0-15"), HasSubstr("several leaf"));
    EXPECT_THAT(refusal(R"(topology="FAT_TREE" topo_parameters="2;4,4;1,2")", "0-15"), HasSubstr("levels;children"));
    EXPECT_THAT(refusal(R"(topology="STAR" topo_parameters="2")", "0-15"), HasSubstr("expected FLAT, FAT_TREE"));
    EXPECT_THAT(refusal(R"(sharing_policy="FATPIPE")", "0-15"), HasSubstr("sharing_policy"));
}

TEST(simgrid, mistakes_are_told_at_their_lines) {
    EXPECT_THAT(refusal("", "a-b"), HasSubstr("platform:2"));
    EXPECT_THAT(platform_refusal("simgrid", R"(<platform><cluster radical="0-3" bw="fast" lat="1us"/></platform>)"),
                HasSubstr("bw: expected a bandwidth, such as"));
    EXPECT_THAT(platform_refusal("simgrid", "<platform><cluster"), HasSubstr("platform:1"));
}

}  // namespace
}  // namespace weft
