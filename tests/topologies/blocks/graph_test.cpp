// The irregular node, on Frontier's: published facts, and routes against an exhaustive search.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "tests/topologies/route_walk.hpp"
#include "topologies/machine.hpp"

namespace weft {
namespace {

struct PublishedLink {
    std::string a, b, kind;
    double links = 0, gigabytes = 0;
};

std::vector<PublishedLink> read_facts() {
    std::ifstream file(WEFT_TEST_DATA "/topologies/data/frontier_node_links.csv");
    std::vector<PublishedLink> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#") || line.starts_with("a,b")) continue;
        std::istringstream cells(line);
        PublishedLink row;
        std::string links, gigabytes;
        std::getline(cells, row.a, ',') && std::getline(cells, row.b, ',') && std::getline(cells, row.kind, ',') &&
            std::getline(cells, links, ',') && std::getline(cells, gigabytes, ',');
        row.links = std::stod(links);
        row.gigabytes = std::stod(gigabytes);
        rows.push_back(row);
    }
    return rows;
}

class frontier_node : public testing::Test {
  protected:
    Topology topology_ = Machine::load("frontier").topology(2);

    bool inside(LinkId link) const { return index(topology_.tail(link)) < 8 && index(topology_.head(link)) < 8; }

    // Nominal bandwidth of the direct link between two accelerators of node 0, or 0.
    BytesPerSecond direct(std::uint32_t a, std::uint32_t b) const {
        for (LinkId link{}; index(link) < topology_.links(); link = next(link)) {
            if (topology_.tail(link) == NodeId(a) && topology_.head(link) == NodeId(b))
                return topology_.link(link).nominal;
        }
        return {};
    }
};

TEST_F(frontier_node, links_are_those_of_the_published_table) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> published;
    for (const PublishedLink& row : read_facts()) {
        if (row.kind != "xgmi") continue;
        const auto a = static_cast<std::uint32_t>(std::stoul(row.a.substr(3)));
        const auto b = static_cast<std::uint32_t>(std::stoul(row.b.substr(3)));
        published[{a, b}] = published[{b, a}] = row.gigabytes;
        EXPECT_EQ(row.gigabytes, 50 * row.links);
    }
    ASSERT_EQ(published.size(), 24U);
    for (std::uint32_t a = 0; a < 8; ++a) {
        for (std::uint32_t b = 0; b < 8; ++b) {
            const auto found = published.find({a, b});
            EXPECT_EQ(direct(a, b).value, found == published.end() ? 0.0 : found->second * 1e9) << a << " to " << b;
        }
    }
}

TEST_F(frontier_node, even_dies_have_seven_links_and_odd_ones_six) {
    for (std::uint32_t a = 0; a < 8; ++a) {
        BytesPerSecond sum;
        for (std::uint32_t b = 0; b < 8; ++b) sum += direct(a, b);
        EXPECT_EQ(sum, (a % 2 == 0 ? 7 : 6) * 50_GBps) << a;
    }
}

TEST_F(frontier_node, nics_hang_on_the_odd_dies_of_the_published_table) {
    std::uint32_t nics = 0;
    for (const PublishedLink& row : read_facts()) {
        if (row.kind != "pcie4_esm") continue;
        ++nics;
        const auto nic = static_cast<std::uint32_t>(std::stoul(row.a.substr(3)));
        const auto die = static_cast<std::uint32_t>(std::stoul(row.b.substr(3)));
        // A die with a NIC leaves by it over PCIe alone; its even neighbour first crosses the package.
        const Route own = topology_.route(RankId(die), RankId(8)), mate = topology_.route(RankId(die - 1), RankId(8));
        EXPECT_EQ(topology_.tail(topology_.router->uplink(RankId(die))), NodeId(8 + nic));
        EXPECT_EQ(topology_.router->uplink(RankId(die)), topology_.router->uplink(RankId(die - 1)));
        EXPECT_EQ(topology_.link(own.hop[0]).name, "pcie.nic");
        EXPECT_EQ(topology_.link(mate.hop[0]).name, "infinity_fabric.x4");
        EXPECT_EQ(topology_.link(mate.hop[1]).name, "pcie.nic");
    }
    EXPECT_EQ(nics, 4U);
}

// The best path by trying all simple ones: fewest hops, then the widest bottleneck.
struct Best {
    std::size_t hops = std::numeric_limits<std::size_t>::max();
    BytesPerSecond width;
};
void try_all(const Topology& topology, NodeId here, NodeId to, std::vector<NodeId>& path, BytesPerSecond width,
             Best& best) {
    if (here == to) {
        if (path.size() < best.hops || (path.size() == best.hops && width > best.width)) best = {path.size(), width};
        return;
    }
    path.push_back(here);
    for (LinkId link{}; index(link) < topology.links(); link = next(link)) {
        const NodeId head = topology.head(link);
        if (topology.tail(link) != here || index(head) >= 8) continue;
        if (std::find(path.begin(), path.end(), head) != path.end()) continue;
        try_all(topology, head, to, path, std::min(width, topology.link(link).bandwidth), best);
    }
    path.pop_back();
}

TEST_F(frontier_node, routes_have_the_fewest_hops_and_of_those_the_widest_bottleneck) {
    const Topology alone = Machine::load("frontier").topology(1);
    for (std::uint32_t a = 0; a < 8; ++a) {
        for (std::uint32_t b = 0; b < 8; ++b) {
            if (a == b) continue;
            Best best;
            std::vector<NodeId> path;
            try_all(alone, NodeId(a), NodeId(b), path, {std::numeric_limits<double>::infinity()}, best);
            const Route route = alone.route(RankId(a), RankId(b));
            BytesPerSecond width{std::numeric_limits<double>::infinity()};
            for (const LinkId link : route.links()) width = std::min(width, alone.link(link).bandwidth);
            EXPECT_EQ(route.hops, best.hops) << a << " to " << b;
            EXPECT_EQ(width, best.width) << a << " to " << b;
        }
    }
}

// LUMI, same board, osu_bw at 32 MiB: 147.4 GB/s over four links, 77.1 over two, 39.0 over one, 70.0 for a routed pair.
TEST_F(frontier_node, pairs_reach_the_measured_bandwidth_of_their_kind) {
    const auto width = [&](std::uint32_t a, std::uint32_t b) {
        BytesPerSecond narrowest{std::numeric_limits<double>::infinity()};
        const Route route = topology_.route(RankId(a), RankId(b));
        for (const LinkId link : route.links()) narrowest = std::min(narrowest, topology_.link(link).bandwidth);
        return narrowest.value / 1e9;
    };
    EXPECT_NEAR(width(0, 1), 147.4, 0.2);
    EXPECT_NEAR(width(0, 6), 77.1, 0.1);
    EXPECT_NEAR(width(0, 2), 39.0, 0.1);
    EXPECT_NEAR(width(0, 7), 70.0, 7.5);  // 0-6-7: two links, then four
}

TEST_F(frontier_node, a_routed_pair_prefers_the_wide_detour) {
    EXPECT_EQ(classes_along(topology_, topology_.route(RankId(0), RankId(7))),
              (std::vector<std::string>{"infinity_fabric.x2", "infinity_fabric.x4"}));
    EXPECT_EQ(classes_along(topology_, topology_.route(RankId(0), RankId(3))),  // by 1 or by 2: the lower one
              (std::vector<std::string>{"infinity_fabric.x4", "infinity_fabric.x1"}));
}

}  // namespace
}  // namespace weft
