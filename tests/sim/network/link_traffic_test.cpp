// What links carried, where one of each kind is listed and where all are.
#include "sim/network/link_traffic.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/sim/network/arbitrary.hpp"

namespace weft {
namespace {

using toy::path;

TEST(link_traffic, a_link_has_what_the_one_that_stands_for_it_carried) {
    const Topology fabric = toy::fabric(std::vector<double>(5, 10.0));
    Table<PatternId, Pattern> patterns = toy::table({path({0, 1, 2, 3}), path({2, 3})});
    const EqualLinks alike = merge_equal_links(fabric, patterns);
    Table<PatternId, Bytes> moved;
    moved.push_back({5});
    moved.push_back({20});
    const LinkTraffic traffic = link_traffic(fabric, patterns, moved, alike, {4});
    const std::vector<Bytes> expected{{5}, {5}, {25}, {25}, {0}};
    EXPECT_EQ(traffic.bytes.rows(), expected);
    EXPECT_DOUBLE_EQ(traffic.busy(fabric, LinkId{3}), 25.0 / (10 * 4));
    EXPECT_EQ(traffic.used().size(), 4U);
    const std::vector<LinkBytes> listed = listed_links(patterns, moved);
    ASSERT_EQ(listed.size(), 2U);
    EXPECT_EQ(listed[1].link, LinkId{2});
    EXPECT_EQ(listed[1].bytes, Bytes{25});
    EXPECT_EQ(listed[1].links, 2U);
}

RC_GTEST_PROP(link_traffic, is_the_same_whether_alike_links_are_one_or_not, ()) {
    const toy::System system = toy::arbitrary_system(60, 6);
    const Topology fabric = toy::fabric(system.bandwidths);
    const Table<PatternId, Pattern> all = toy::table(system.patterns);
    Table<PatternId, Pattern> merged = toy::table(system.patterns);
    const EqualLinks alike = merge_equal_links(fabric, merged);
    Table<PatternId, Bytes> moved;
    for (std::size_t i = 0; i < all.size(); ++i) moved.push_back({1.0 * *rc::gen::inRange(0, 1000)});
    const LinkTraffic one = link_traffic(fabric, merged, moved, alike, {2}),
                      each = link_traffic(fabric, all, moved, {}, {2});
    RC_ASSERT(one.bytes.rows() == each.bytes.rows());
    std::uint32_t counted = 0;
    double sum = 0.0, expected = 0.0;
    for (const LinkBytes& link : listed_links(merged, moved)) {
        counted += link.bytes > Bytes{} ? link.links : 0;
        sum += link.bytes.value * link.links;
    }
    for (const Bytes bytes : each.bytes) expected += bytes.value;
    RC_ASSERT(counted == each.used().size());
    RC_ASSERT(std::abs(sum - expected) <= 1e-12 * expected);
}

}  // namespace
}  // namespace weft
