#include "sim/network/flow_network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/check.hpp"
#include "sim/network/link_patterns.hpp"
#include "tests/sim/network/carried.hpp"
#include "tests/sim/network/toy.hpp"

namespace weft {
namespace {

using testing::ElementsAre;
using toy::path;

Instant at(double seconds) { return Instant{} + Seconds{seconds}; }

TEST(ideal_network, flows_do_not_see_each_other) {
    IdealNetwork network(toy::fabric({10}), toy::table({path({0})}));
    const FlowId a = network.start({}, PatternId{0}, {20});
    const FlowId b = network.start({}, PatternId{0}, {10});
    std::vector<FlowId> done;
    EXPECT_EQ(network.next_change(), at(1));
    network.advance(at(1), done);
    EXPECT_THAT(done, ElementsAre(b));
    EXPECT_EQ(network.next_change(), at(2));
    network.advance(at(2), done);
    EXPECT_THAT(done, ElementsAre(b, a));
    EXPECT_EQ(network.next_change(), Instant::never());
    EXPECT_DOUBLE_EQ(delivered(network, 1).value, 30);
    EXPECT_DOUBLE_EQ(carried(network, LinkId{0}).value, 30);
}

struct Case {
    const char* name;
    Pattern pattern;
    double rate;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class ideal_rate : public testing::TestWithParam<Case> {};
TEST_P(ideal_rate, is_what_one_member_alone_reaches) {
    const IdealNetwork network(toy::fabric({30, 20}), toy::table({GetParam().pattern}));
    EXPECT_EQ(network.rate(PatternId{0}).value, GetParam().rate);
}
INSTANTIATE_TEST_SUITE_P(
    ideal_network, ideal_rate,
    testing::Values(Case{"smallest_bandwidth", path({0, 1}), 20}, Case{"cap", path({0, 1}, 7), 7},
                    Case{"loads_of_others_do_not_count", {{{LinkId{0}, 8.0}}}, 30},
                    Case{"alone_replaces_bandwidths", {{{LinkId{0}, 8.0}}, {toy::infinity}, {24}}, 24},
                    Case{"cap_below_alone", {{{LinkId{0}, 8.0}}, {11}, {24}}, 11}, Case{"only_a_cap", path({}, 5), 5}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(ideal_network, a_flow_that_nothing_limits_is_refused) {
    IdealNetwork network(toy::fabric({10}), toy::table({path({})}));
    EXPECT_THROW(network.start({}, PatternId{0}, {1}), LogicError);
}

TEST(ideal_network, time_cannot_run_backwards_or_past_a_change) {
    IdealNetwork network(toy::fabric({10}), toy::table({path({0})}));
    std::vector<FlowId> done;
    network.start(at(1), PatternId{0}, {10});
    EXPECT_THROW(network.start(at(0.5), PatternId{0}, {10}), LogicError);
    EXPECT_THROW(network.advance(at(2.5), done), LogicError);
}

}  // namespace
}  // namespace weft
