// Sums over links, of programs whose patterns list all links and of those that list one of each kind.
#include "sim/engine/link_sums.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/engine/engine.hpp"
#include "sim/network/link_traffic.hpp"
#include "tests/sim/engine/arbitrary_program.hpp"

namespace weft {
namespace {

using toy::path;
using toy::Script;

// Work for a second, then one transfer.
Program transfer(const Pattern& pattern, Bytes bytes) {
    Script script;
    const PatternId id = script.builder.pattern(pattern);
    script.begin("all");
    script.take_part(script.exchange({id, {}, bytes}), {script.work({1})});
    return script.finish();
}

TEST(link_sums, links_that_nothing_crosses_count_for_the_mean_of_their_class) {
    // 20 bytes at 10 B/s after a second of work: the crossed link is busy for two seconds of three.
    const Timeline timeline =
        simulate(transfer(path({1, 4}), {20}), toy::fabric({10, 10, 10, 10, 40, 40, 70}), NetworkKind::flow);
    EXPECT_DOUBLE_EQ(timeline.utilization[LinkClassId{0}], 2.0 / 3 / 4);
    EXPECT_DOUBLE_EQ(timeline.peak_utilization[LinkClassId{0}], 2.0 / 3);
    EXPECT_DOUBLE_EQ(timeline.utilization[LinkClassId{1}], 0.5 / 3 / 2);
    EXPECT_DOUBLE_EQ(timeline.peak_utilization[LinkClassId{1}], 0.5 / 3);
    EXPECT_EQ(timeline.utilization[LinkClassId{2}], 0.0);
    EXPECT_EQ(timeline.peak_utilization[LinkClassId{2}], 0.0);
}

TEST(link_sums, a_link_that_stands_for_others_counts_for_the_mean_and_not_for_the_peak) {
    Pattern pattern = path({1, 4});
    pattern.loads.front().stands_for = 3;
    const Program program = transfer(pattern, {20});
    const Timeline timeline = simulate(program, toy::fabric({10, 10, 10, 10, 40, 40, 70}), NetworkKind::flow);
    EXPECT_DOUBLE_EQ(timeline.utilization[LinkClassId{0}], 3 * 2.0 / 3 / 4);
    EXPECT_DOUBLE_EQ(timeline.peak_utilization[LinkClassId{0}], 2.0 / 3);
    EXPECT_DOUBLE_EQ(timeline.utilization[LinkClassId{1}], 0.5 / 3 / 2);
}

// A machine of which link i comes as often as copies[i] says, one after another.
struct Copies {
    std::vector<std::uint32_t> first;  // of each link; one more at the end
    std::vector<double> bandwidths;

    Copies(const std::vector<double>& each, const std::vector<std::uint32_t>& copies) {
        for (std::size_t i = 0; i < each.size(); ++i) {
            first.push_back(static_cast<std::uint32_t>(bandwidths.size()));
            bandwidths.insert(bandwidths.end(), copies[i], each[i]);
        }
        first.push_back(static_cast<std::uint32_t>(bandwidths.size()));
    }
    Pattern on_all(const Pattern& pattern) const {
        Pattern result = pattern;
        result.loads.clear();
        for (const LinkLoad& load : pattern.loads) {
            for (std::uint32_t l = first[index(load.link)]; l < first[index(load.link) + 1]; ++l) {
                result.loads.push_back({LinkId{l}, load.load});
            }
        }
        return result;
    }
};

RC_GTEST_PROP(link_sums, one_of_alike_links_gives_what_all_of_them_give, ()) {
    toy::System system = toy::arbitrary_system(6, 4);
    // So that seconds per byte are sums without rounding, in whatever order.
    for (double& bandwidth : system.bandwidths) bandwidth = std::bit_floor(static_cast<std::uint32_t>(bandwidth));
    for (Pattern& pattern : system.patterns) {
        for (LinkLoad& load : pattern.loads) load.load = std::ceil(load.load * 4.0) / 4.0;
    }
    std::vector<std::uint32_t> copies(system.bandwidths.size());
    for (std::uint32_t& number : copies) number = *rc::gen::inRange<std::uint32_t>(1, 5);
    const Copies machine(system.bandwidths, copies);
    const Topology topology = toy::fabric(machine.bandwidths);
    Program all = toy::arbitrary_program(system);
    for (Pattern& pattern : all.patterns) pattern = machine.on_all(pattern);
    Program merged = all;
    merge_equal_links(topology, merged.patterns);
    for (const NetworkKind kind : {NetworkKind::flow, NetworkKind::ideal, NetworkKind::free}) {
        const Timeline a = simulate(all, topology, kind, Recording::spans_and_links);
        const Timeline b = simulate(merged, topology, kind, Recording::spans_and_links);
        RC_ASSERT(std::ranges::equal(a.spans, b.spans, [](const Span& x, const Span& y) {
            return x.posted == y.posted && x.begin == y.begin && x.end == y.end;
        }));
        RC_ASSERT(a.end == b.end && a.events == b.events && a.solves == b.solves);
        RC_ASSERT(a.peak_utilization.rows() == b.peak_utilization.rows());
        RC_ASSERT(std::ranges::equal(a.utilization, b.utilization,
                                     [](double x, double y) { return std::abs(x - y) <= 1e-12 * x; }));
        RC_ASSERT(std::ranges::equal(a.samples, b.samples, [](const auto& x, const auto& y) {
            return x.at == y.at && x.link_class == y.link_class && x.mean == y.mean;
        }));
    }
}

}  // namespace
}  // namespace weft
