#include "tools/page/simulation_page.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/tools/page/small_runs.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

// The links of class `name` that one matrix has, by another way: all of them.
double busiest_of(const Report& report, const std::string& name) {
    return std::ranges::find(report.links, name, &LinkReport::link_class)->peak_utilization;
}

double busiest(const MapMatrix& matrix) {
    double most = 0.0;
    for (const MapCell& cell : matrix.cells) most = std::max({most, cell.to_column.busiest, cell.to_row.busiest});
    return most;
}

// Matrices together have every byte that left a node, and the busiest link of each class that the report knows.
TEST(fabric_map, has_what_the_links_carried) {
    const Simulation run = test::expert_run();
    const Report report = make_report(run);
    const LinkTraffic traffic = link_traffic(run);
    const std::vector<MapMatrix> map = fabric_map(run.topology(), traffic);
    ASSERT_FALSE(map.empty());
    double sum = 0.0, expected = 0.0;
    for (const MapMatrix& matrix : map) {
        for (const MapCell& cell : matrix.cells) sum += (cell.to_column.bytes + cell.to_row.bytes).value;
    }
    for (LinkId link{}; index(link) < run.topology().links(); link = next(link)) {
        if (run.topology().wiring->place(link)) expected += traffic.bytes[link].value;
    }
    EXPECT_NEAR(sum, expected, 1e-9 * expected);
    EXPECT_GT(sum, 0.0);
    EXPECT_DOUBLE_EQ(busiest(map[0]), busiest_of(report, "infiniband.nic"));
}

TEST(fabric_map, joins_neighbours_where_there_are_too_many) {
    const Topology topology = Machine::load("frontier").topology(200);
    LinkTraffic traffic{.bytes = Table<LinkId, Bytes>(topology.links(), Bytes{1}), .time = {1}};
    const std::vector<MapMatrix> map = fabric_map(topology, traffic);
    ASSERT_EQ(map.size(), 2U);
    EXPECT_EQ(map[0].columns.per_cell, 4U);  // 200 nodes
    EXPECT_EQ(map[0].columns.names.at(1), "4\u20137");
    EXPECT_EQ(map[0].rows.names, (std::vector<std::string>{"0", "1", "2", "3"}));
    EXPECT_EQ(map[1].rows.per_cell, 2U);  // 74 groups
    EXPECT_EQ(map[1].rows.names.size(), 37U);
    std::uint32_t links = 0;
    for (const MapMatrix& matrix : map) {
        for (const MapCell& cell : matrix.cells) {
            EXPECT_LT(cell.row, matrix.rows.names.size());
            EXPECT_LT(cell.column, matrix.columns.names.size());
            links += cell.to_column.links + cell.to_row.links;
        }
    }
    EXPECT_EQ(links, topology.links() - 200 * topology.node_links);
}

// One global cable of 74 x 73 bundles, from group 2 to group 70: of these two groups, rows and columns stay.
TEST(fabric_map, leaves_out_what_carried_nothing) {
    const Topology topology = Machine::load("frontier").topology(200);
    LinkTraffic traffic{.bytes = Table<LinkId, Bytes>(topology.links()), .time = {1}};
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        const auto place = topology.wiring->place(link);
        if (place == MatrixPlace{.matrix = 1, .row = 2, .column = 70}) traffic.bytes[link] = {1e6};
    }
    const MapMatrix groups = fabric_map(topology, traffic)[1];
    EXPECT_EQ(groups.rows.names, (std::vector<std::string>{"2", "70"}));
    EXPECT_EQ(groups.columns.names, groups.rows.names);
    ASSERT_EQ(groups.cells.size(), 4U);
    EXPECT_EQ(groups.cells[1].to_column.links, 4U);
    EXPECT_EQ(groups.cells[1].to_column.bytes, Bytes{4e6});
    EXPECT_GT(groups.cells[1].to_column.busiest, 0.0);
    for (const std::uint32_t idle : {0U, 2U, 3U}) EXPECT_EQ(groups.cells[idle].to_column.bytes, Bytes{});
}

TEST(fabric_map, is_idle_where_nothing_leaves_a_node) {
    const Topology topology = Machine::load("frontier").topology(2);
    LinkTraffic traffic{.bytes = Table<LinkId, Bytes>(topology.links()), .time = {1}};
    traffic.bytes[LinkId{0}] = {1};
    const std::vector<MapMatrix> map = fabric_map(topology, traffic);
    EXPECT_EQ(map.size(), 2U);
    for (const MapMatrix& matrix : map) EXPECT_TRUE(matrix.cells.empty());
}

// Rails of sixteen nodes of Frontier meet in their own switches.
TEST(fabric_map, of_a_page_has_the_figures_of_its_cells) {
    const Simulation run = test::dense_run();
    const nlohmann::json data =
        nlohmann::json::parse(simulation_data(run, timeline_part(run.step, run.timeline), {}))["fabric"];
    const MapMatrix ports = fabric_map(run.topology(), link_traffic(run)).front();
    ASSERT_EQ(data["matrices"].size(), 1U);
    EXPECT_EQ(data["idle"], nlohmann::json{"Between switches"});
    const nlohmann::json& drawn = data["matrices"][0];
    EXPECT_EQ(drawn["ways"].size(), 2U);
    ASSERT_EQ(drawn["row"].size(), ports.cells.size());
    for (std::size_t i = 0; i < ports.cells.size(); ++i) {
        EXPECT_EQ(drawn["column"][i], ports.cells[i].column);
        EXPECT_NEAR(drawn["ways"][0]["busiest"][i], ports.cells[i].to_column.busiest, 1e-6);
        EXPECT_EQ(drawn["ways"][1]["links"][i], ports.cells[i].to_row.links);
    }
}

}  // namespace
}  // namespace weft
