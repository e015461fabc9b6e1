// `weft topology` as a user runs it.
#include <gtest/gtest.h>

#include "tests/tools/program.hpp"

namespace weft {
namespace {

TEST(topology_command, names_what_a_wrong_route_should_have_been) {
    const test::Ran ran = test::run_weft("topology dgx-a100 --nodes 2 --route 0,16");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.err.find("expected two ranks from 0 to 15, as in 0,9; got \"16\""), std::string::npos) << ran.err;
    EXPECT_TRUE(ran.out.empty());
}

TEST(topology_command, refuses_more_nodes_than_the_machine_has) {
    const test::Ran ran = test::run_weft("topology frontier --nodes 9409");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.err.find("frontier has 1 to 9408 nodes, not 9409"), std::string::npos) << ran.err;
}

TEST(topology_command, shows_a_route_hop_by_hop) {
    const test::Ran ran = test::run_weft("topology frontier --route 0,7");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.out,
              "Rank 0 to rank 7: 2 hops, latency 200 ns, at most 77.1 GB/s (100 GB/s nominal)\n"
              "  from    to      link                achievable  latency\n"
              "  rank 0  rank 6  infinity_fabric.x2   77.1 GB/s   100 ns\n"
              "  rank 6  rank 7  infinity_fabric.x4    147 GB/s   100 ns\n");
}

TEST(topology_command, shows_detours_where_the_fabric_takes_them) {
    const std::string route = "topology frontier --nodes 8 --placement scatter:4 --route 0,8 --routing ";
    const test::Ran adaptive = test::run_weft(route + "adaptive"), minimal = test::run_weft(route + "minimal");
    EXPECT_EQ(adaptive.exit_code, 0);
    EXPECT_TRUE(adaptive.out.starts_with(minimal.out));
    EXPECT_NE(adaptive.out.find("Rank 0 to rank 8, detour 4 of 4: 11 hops"), std::string::npos) << adaptive.out;
    EXPECT_EQ(minimal.out.find("detour"), std::string::npos);
}

TEST(topology_command, shows_what_other_traffic_leaves) {
    const test::Ran ran = test::run_weft(
        "topology frontier --nodes 8 --placement scatter:4 --routing minimal --background slingshot.global=0.5 --route "
        "0,8");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_NE(ran.out.find("at most 11.7 GB/s (25.0 GB/s nominal)"), std::string::npos) << ran.out;
}

TEST(topology_command, names_mistakes_in_the_fabric) {
    const auto err = [](const std::string& options) {
        return test::run_weft("topology frontier --nodes 8 " + options).err;
    };
    EXPECT_NE(err("--routing adaptiv").find("did you mean \"adaptive\""), std::string::npos);
    EXPECT_NE(err("--placement scater:4").find("did you mean \"scatter\""), std::string::npos);
    EXPECT_NE(err("--placement group:9").find("--placement: 8 nodes do not reach 9 groups"), std::string::npos);
    EXPECT_NE(err("--background slingshot.globl=0.3").find("did you mean \"slingshot.global\""), std::string::npos);
    EXPECT_NE(err("--background slingshot.nic=1").find("at least 0 and below 1"), std::string::npos);
    EXPECT_NE(err("--placement ./none").find("./none: error: cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace weft
