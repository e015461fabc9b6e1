#include "tools/output/topology_facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace weft {
namespace {

class topology_of : public testing::TestWithParam<std::string> {
  protected:
    Machine machine_ = Machine::load(GetParam());
    Topology topology_ = machine_.topology(std::min(machine_.info().nodes, 200U));
    TopologyFacts facts_ = topology_facts(machine_.info(), topology_);
};

TEST_P(topology_of, every_vertex_and_link_is_counted_once) {
    const std::uint32_t links =
        std::accumulate(facts_.classes.begin(), facts_.classes.end(), 0U,
                        [](std::uint32_t sum, const ClassFacts& row) { return sum + row.links; });
    EXPECT_EQ(links, topology_.links());
    EXPECT_EQ(facts_.accelerators, facts_.nodes * machine_.info().accelerators_per_node);
    EXPECT_EQ(facts_.nics, facts_.nodes * machine_.info().nics_per_node);
}

TEST_P(topology_of, vertices_have_names_of_their_own) {
    const VertexNames names(topology_);
    std::vector<std::string> sorted;
    for (NodeId vertex{}; index(vertex) < topology_.vertices(); vertex = next(vertex)) sorted.push_back(names[vertex]);
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
    EXPECT_EQ(names[topology_.endpoint(RankId(9))], "rank 9");
}

TEST_P(topology_of, routes_join_hop_by_hop_and_add_up) {
    ASSERT_GE(facts_.routes.size(), 3U);
    for (const RouteFacts& route : facts_.routes) {
        Seconds latency;
        std::string here = "rank " + std::to_string(index(route.from));
        for (const Hop& hop : route.hops) {
            EXPECT_EQ(hop.from, here);
            EXPECT_GE(hop.link_class.bandwidth, route.bandwidth);
            latency += hop.link_class.latency;
            here = hop.to;
        }
        EXPECT_EQ(here, "rank " + std::to_string(index(route.to)));
        EXPECT_EQ(latency, route.latency);
    }
}

TEST_P(topology_of, json_says_what_the_facts_say) {
    const auto json = nlohmann::json::parse(to_json(machine_.info(), facts_));
    EXPECT_EQ(json["machine"], GetParam());
    EXPECT_EQ(json["accelerators"], facts_.accelerators);
    EXPECT_EQ(json["links"].size(), facts_.classes.size());
    EXPECT_EQ(json["routes"].size(), facts_.routes.size());
    EXPECT_EQ(json["routes"].back()["hops"].size(), facts_.routes.back().hops.size());
    EXPECT_EQ(json["injection_nominal_bytes_per_s"].get<double>(), facts_.injection_nominal.value);
}

TEST_P(topology_of, text_has_no_line_wider_than_a_terminal_of_132_columns) {
    const std::string text = to_text(machine_.info(), facts_);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        ASSERT_NE(end, std::string::npos);
        EXPECT_LE(end - at, 132U) << text.substr(at, end - at);
        at = end + 1;
    }
}

INSTANTIATE_TEST_SUITE_P(shipped, topology_of, testing::ValuesIn(machine_names()), [](const auto& test) {
    std::string name = test.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

TEST(topology_facts, frontier_injects_a_hundred_gigabytes_and_rings_carry_two_hundred) {
    const Machine machine = Machine::load("frontier");
    const TopologyFacts facts = topology_facts(machine.info(), machine.topology(1));
    EXPECT_EQ(facts.injection_nominal, 100_GBps);
    EXPECT_EQ(facts.node_rings.nominal, 200_GBps);
    EXPECT_EQ(facts.node_links[0][1], 200_GBps);
    EXPECT_EQ(facts.node_links[0][3], BytesPerSecond{});
}

}  // namespace
}  // namespace weft
