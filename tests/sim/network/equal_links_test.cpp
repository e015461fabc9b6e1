#include "sim/network/link_traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "sim/base/check.hpp"
#include "sim/network/constraints.hpp"
#include "tests/sim/network/arbitrary.hpp"

namespace weft {
namespace {

using toy::path;

Table<PatternId, Pattern> merged(const Topology& topology, const std::vector<Pattern>& patterns) {
    Table<PatternId, Pattern> table = toy::table(patterns);
    merge_equal_links(topology, table);
    return table;
}

using Inequality = std::pair<double, std::vector<std::pair<PatternId, double>>>;

std::vector<Inequality> inequalities(const Topology& topology, const Table<PatternId, Pattern>& patterns) {
    std::vector<Inequality> found;
    for (const Constraint& each : find_constraints(topology, LinkPatterns(topology, patterns))) {
        Inequality one{each.capacity.value, {}};
        for (const Crossing& crossing : each.crossings) one.second.emplace_back(crossing.pattern, crossing.load);
        found.push_back(std::move(one));
    }
    std::ranges::sort(found);
    return found;
}

TEST(alike_links, the_first_stands_for_those_that_carry_the_same) {
    const Topology fabric = toy::fabric(std::vector<double>(6, 10.0));
    const auto patterns = merged(fabric, {path({0, 1, 2, 3}), path({2, 3, 4})});
    const auto listed = [&](std::uint32_t pattern) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> links;
        for (const LinkLoad& each : patterns[PatternId{pattern}].loads)
            links.emplace_back(index(each.link), each.stands_for);
        return links;
    };
    EXPECT_THAT(listed(0), testing::ElementsAre(testing::Pair(0, 2), testing::Pair(2, 2)));
    EXPECT_THAT(listed(1), testing::ElementsAre(testing::Pair(2, 2), testing::Pair(4, 1)));
}

TEST(alike_links, unequal_loads_keep_links_apart) {
    const Topology fabric = toy::fabric(std::vector<double>(3, 10.0));
    const Pattern loaded{{{LinkId{0}, 1.0}, {LinkId{1}, 2.0}, {LinkId{2}, 1.0}}};
    const auto patterns = merged(fabric, {loaded});
    EXPECT_EQ(patterns[PatternId{0}].loads.size(), 2U);
    EXPECT_EQ(patterns[PatternId{0}].loads[0].stands_for, 2U);
    EXPECT_EQ(patterns[PatternId{0}].loads[1].load, 2.0);
}

TEST(alike_links, a_link_that_the_machine_lacks_is_refused) {
    EXPECT_THROW(merged(toy::fabric({10.0}), {path({1})}), LogicError);
}

// Against grouping links by the list of all that they carry.
RC_GTEST_PROP(alike_links, state_the_same_inequalities_and_count_every_link_once, ()) {
    const toy::System system = toy::arbitrary_system(60, 6);
    const Topology fabric = toy::fabric(system.bandwidths);
    const Table<PatternId, Pattern> all = toy::table(system.patterns), kept = merged(fabric, system.patterns);
    RC_ASSERT(inequalities(fabric, kept) == inequalities(fabric, all));

    std::map<std::pair<LinkClassId, std::vector<std::pair<PatternId, double>>>, std::vector<LinkId>> alike;
    const LinkPatterns crossed(fabric, all);
    for (std::size_t place = 0; place < crossed.links().size(); ++place) {
        std::vector<std::pair<PatternId, double>> carries;
        for (const Crossing& crossing : crossed.on(place)) carries.emplace_back(crossing.pattern, crossing.load);
        const LinkId link = crossed.links()[place];
        alike[{fabric.link_class(link), std::move(carries)}].push_back(link);
    }
    const LinkPatterns left(fabric, kept);
    RC_ASSERT(left.links().size() == alike.size());
    for (const auto& [what, links] : alike) {
        const auto place = std::ranges::find(left.links(), links.front()) - left.links().begin();
        RC_ASSERT(static_cast<std::size_t>(place) < left.links().size());
        RC_ASSERT(left.stands_for(static_cast<std::size_t>(place)) == links.size());
    }
}

}  // namespace
}  // namespace weft
