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
    const test::Ran ran = test::run_weft("topology dgx-a100 --nodes 561");
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_NE(ran.err.find("dgx-a100 has 1 to 560 nodes, not 561"), std::string::npos) << ran.err;
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

}  // namespace
}  // namespace weft
