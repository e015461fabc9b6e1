#include "sim/network/link_patterns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/base/check.hpp"
#include "tests/sim/network/toy.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using toy::path;

LinkPatterns transpose(std::size_t links, const std::vector<Pattern>& patterns) {
    return {toy::fabric(std::vector<double>(links, 10.0)), toy::table(patterns)};
}

TEST(link_patterns, lists_crossed_links_and_who_crosses_them) {
    const Pattern loaded{{{LinkId{3}, 2.0}, {LinkId{7}, 0.5}}};
    const LinkPatterns crossed = transpose(10, {path({3}), loaded});
    EXPECT_THAT(crossed.links(), ElementsAre(LinkId{3}, LinkId{7}));
    EXPECT_THAT(crossed.on(0), ElementsAre(Crossing{PatternId{0}, 1.0}, Crossing{PatternId{1}, 2.0}));
    EXPECT_THAT(crossed.on(1), ElementsAre(Crossing{PatternId{1}, 0.5}));
}

TEST(link_patterns, patterns_without_links_cross_none) {
    EXPECT_THAT(transpose(10, {}).links(), IsEmpty());
    EXPECT_THAT(transpose(0, {path({})}).links(), IsEmpty());
}

TEST(link_patterns, a_link_that_the_machine_lacks_is_refused) {
    for (const std::uint32_t links : {0U, 1U, 5U, 127U, 128U, 1000U, 5000U}) {
        EXPECT_THROW(transpose(links, {path({links})}), LogicError) << links;
        EXPECT_THROW(transpose(links, {path({links + 1'000'000})}), LogicError) << links;
    }
}

// Of a machine of which nearly all or next to nothing is crossed.
RC_GTEST_PROP(link_patterns, is_the_transpose_of_the_patterns, ()) {
    const auto links = *rc::gen::inRange<std::uint32_t>(1, 3000);
    const auto most = *rc::gen::element(3, 300, 3000);
    std::vector<Pattern> patterns(*rc::gen::inRange<std::size_t>(0, 6));
    std::map<LinkId, std::vector<Crossing>> expected;
    for (std::size_t p = 0; p < patterns.size(); ++p) {
        std::set<std::uint32_t> way;
        const auto first = *rc::gen::inRange<std::uint32_t>(0, links);
        const auto stride = *rc::gen::inRange<std::uint32_t>(1, 500);
        const auto hops = *rc::gen::inRange(0, most);
        for (std::uint32_t hop = 0; hop < static_cast<std::uint32_t>(hops); ++hop) {
            way.insert((first + hop * stride) % links);
        }
        for (const std::uint32_t link : way) {
            const double load = 1.0 + link % 3;
            patterns[p].loads.push_back({LinkId{link}, load});
            expected[LinkId{link}].push_back({PatternId{static_cast<std::uint32_t>(p)}, load});
        }
    }
    const LinkPatterns crossed = transpose(links, patterns);
    RC_ASSERT(crossed.links().size() == expected.size());
    std::size_t place = 0;
    for (const auto& [link, crossings] : expected) {
        RC_ASSERT(crossed.links()[place] == link);
        RC_ASSERT(std::ranges::equal(crossed.on(place++), crossings));
    }
}

}  // namespace
}  // namespace weft
