// Tori and meshes: shortest routes against a search, even loads, cuts, and the pods of TPU v4 and v5p.
#include <gtest/gtest.h>

#include "sim/io/diagnostics.hpp"
#include "tests/topologies/all_pairs.hpp"
#include "tests/topologies/small_machine.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

std::string torus(const std::string& dimensions, const std::string& wrap = "") {
    return small_machine(R"({ "kind": "torus", "source": "test", "port": "port", "link": "core", "dimensions": )" +
                         dimensions + (wrap.empty() ? "" : R"(, "wrap": )" + wrap) + "}");
}

Machine read(const std::string& text) { return Machine::read(Document::parse("small.json", text)); }

struct Shape {
    const char *name, *dimensions, *wrap;
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class small_torus : public testing::TestWithParam<Shape> {
  protected:
    Topology topology_ = read(torus(GetParam().dimensions, GetParam().wrap)).topology(16);
};

TEST_P(small_torus, routes_are_sound) { expect_sound_routes(topology_); }

TEST_P(small_torus, no_search_finds_a_shorter_way) {
    for (std::uint32_t a = 0; a < topology_.ranks; a += 3) {
        const Table<NodeId, std::uint32_t> distance = distances_from(topology_, topology_.endpoint(RankId{a}));
        for (std::uint32_t b = 0; b < topology_.ranks; ++b) {
            for (const std::uint64_t salt : {0ULL, 1ULL}) {
                EXPECT_EQ(topology_.route(RankId{a}, RankId{b}, salt).hops, distance[topology_.endpoint(RankId{b})]);
            }
        }
    }
}

TEST_P(small_torus, every_link_has_a_way_back) {
    std::multiset<std::pair<NodeId, NodeId>> ways, back;
    for (LinkId link{}; index(link) < topology_.links(); link = next(link)) {
        ways.emplace(topology_.tail(link), topology_.head(link));
        back.emplace(topology_.head(link), topology_.tail(link));
    }
    EXPECT_EQ(ways, back);
}

INSTANTIATE_TEST_SUITE_P(shapes, small_torus,
                         testing::Values(Shape{"ring", "[16]", "[true]"}, Shape{"line", "[16]", "[false]"},
                                         Shape{"odd", "[3, 6]", ""}, Shape{"square", "[4, 4]", ""},
                                         Shape{"cylinder", "[4, 4]", "[true, false]"}, Shape{"twos", "[2, 4, 2]", ""},
                                         Shape{"mesh", "[2, 2, 4]", "[false, false, false]"},
                                         Shape{"flat", "[1, 16, 1]", ""}),
                         [](const auto& test) { return std::string(test.param.name); });

// In a ring of four the other coordinates are 0, 1, 2 and 1 steps away, four together. So 16 senders, in pairs of
// ranks 2 x 2, with four receivers in every line: 16 x 4 x 4 x 4 = 1024 steps along a dimension, on 32 links.
TEST(torus, an_all_to_all_loads_every_link_of_a_square_alike) {
    const Topology topology = read(torus("[4, 4]")).topology(16);
    for (const std::uint64_t salt : {0ULL, 1ULL}) expect_even(topology, all_to_all(topology, salt), "core", 32);
}

// A dimension of two has both its cables used: 16 x 4 x 8 steps on 2 x 16 links along it, 16 x 4 x 4 x 4 on 32 along
// the ring of four.
TEST(torus, a_dimension_of_two_has_two_cables) {
    const Topology topology = read(torus("[2, 4, 2]")).topology(16);
    EXPECT_EQ(count_links(topology, "core"), 3U * 32);
    std::map<std::uint32_t, std::uint32_t> links_with;
    for (const auto& [link, load] : all_to_all(topology)) {
        if (topology.link(link).name == "core") ++links_with[load];
    }
    EXPECT_EQ(links_with, (std::map<std::uint32_t, std::uint32_t>{{16, 64}, {32, 32}}));
}

TEST(torus, the_salt_chooses_the_way_round_where_both_are_equal) {
    const Topology topology = read(torus("[16]")).topology(16);
    const Route one = topology.route(RankId{0}, RankId{16}, 0), other = topology.route(RankId{0}, RankId{16}, 1);
    EXPECT_EQ(one.hops, other.hops);
    EXPECT_NE(one.hop[3], other.hop[3]);
}

// A cut across the longest dimension goes through two cables per line where it wraps: 2 x 4 of 10 GB/s; without, 4.
TEST(torus, bisection_is_the_thinnest_cut) {
    EXPECT_EQ(read(torus("[4, 4]")).info().bisection, 80_GBps);
    EXPECT_EQ(read(torus("[4, 4]", "[false, false]")).info().bisection, 40_GBps);
    EXPECT_EQ(read(torus("[2, 8]")).info().bisection, 40_GBps);
    EXPECT_EQ(read(torus("[16]")).info().bisection, 20_GBps);
}

TEST(torus, neighbourhoods_are_lines_and_planes) {
    EXPECT_EQ(read(torus("[2, 4, 2]")).info().neighbourhoods, (std::vector<std::uint32_t>{2, 8}));
    EXPECT_TRUE(read(torus("[16]")).info().neighbourhoods.empty());
}

// From the origin to the farthest chip: half of each dimension, two ports, and the links inside both nodes.
TEST(torus, routes_across_a_whole_pod_fit) {
    for (const auto& [nodes, dimensions, hops] :
         {std::tuple(4096U, "[16, 16, 16]", 24U), std::tuple(8960U, "[16, 20, 28]", 32U)}) {
        const std::string text = replaced(torus(dimensions), R"("nodes": 16)", R"("nodes": )" + std::to_string(nodes));
        const Topology topology = read(text).topology(nodes);
        EXPECT_EQ(count_links(topology, "core"), 6 * nodes);
        std::uint32_t longest = 0;
        for (std::uint32_t node = 0; node < nodes; ++node) {
            const RankId to{2 * node};
            const Route route = topology.route(RankId{0}, to);
            longest = std::max(longest, static_cast<std::uint32_t>(switch_hops(topology, route)));
            if (node % 97 == 0) expect_contiguous(topology, RankId{0}, to, route);
        }
        EXPECT_EQ(longest, hops);
    }
}

std::string error_of(const std::string& text) {
    try {
        read(text);
    } catch (const ConfigError& error) {
        return error.diagnostics().front().key + ": " + error.diagnostics().front().message;
    }
    return "";
}

TEST(torus_files, mistakes_are_reported_at_their_key) {
    EXPECT_EQ(error_of(torus("[4, 3]")),
              "network.dimensions: expected room for the 16 nodes, and for at most 1048576; got 12");
    EXPECT_EQ(error_of(torus("[40]", "[false]")),
              "network.dimensions: the longest route has 39 hops; at most 32 are possible");
    EXPECT_EQ(error_of(torus("[]")), "network.dimensions: expected at least one");
    EXPECT_EQ(error_of(torus("[4, 4]", "[true]")),
              "network.wrap: expected true or false for each of the 2 dimensions, got 1 values");
    EXPECT_NE(error_of(torus("[4, 4]", "[true, 1]")).find("network.wrap[1]: expected true or false"),
              std::string::npos);
    EXPECT_NE(error_of(torus("[4, 0, 8]")).find("network.dimensions[1]: expected at least one node"),
              std::string::npos);
}

}  // namespace
}  // namespace weft
