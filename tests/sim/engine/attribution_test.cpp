#include "sim/engine/attribution.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <tuple>
#include <vector>

namespace weft {
namespace {

constexpr std::size_t lanes = 3, kinds = 4;
constexpr std::int64_t length = 64;

struct Placed {
    std::uint8_t lane;
    Attribution::Activity activity;
};

// Few different times, so that much begins and ends at one instant; some activities have no length.
std::vector<Placed> random_stretches(const std::vector<std::uint16_t>& numbers) {
    std::vector<std::int64_t> now(lanes, 0);
    std::vector<Placed> all;
    for (std::uint16_t number : numbers) {
        const auto draw = [&number](std::uint16_t below) {
            const std::uint16_t drawn = number % below;
            number = static_cast<std::uint16_t>(number / below);
            return drawn;
        };
        const auto lane = static_cast<std::uint8_t>(draw(lanes));
        const std::int64_t begin = now[lane] + draw(3), end = begin + draw(4);
        const auto place = draw(lanes + 1);
        if (end > length) continue;
        now[lane] = end;
        all.push_back({lane, {{begin}, {end}, place, draw(kinds)}});
    }
    return all;
}

struct Shares {
    std::int64_t idle = 0;
    std::vector<std::int64_t> place = std::vector<std::int64_t>(lanes + 1), kind = std::vector<std::int64_t>(kinds);
};

// Tick by tick, from the definition.
Shares naive(const std::vector<Placed>& all) {
    Shares shares;
    for (std::int64_t tick = 0; tick < length; ++tick) {
        std::size_t first = lanes + 1;
        for (const auto& [lane, s] : all) {
            if (s.begin.femtoseconds <= tick && tick < s.end.femtoseconds)
                first = std::min<std::size_t>(first, s.place);
        }
        if (first > lanes) {
            ++shares.idle;
            continue;
        }
        ++shares.place[first];
        if (first == 0 || first == lanes) continue;
        const Attribution::Activity* last = nullptr;
        for (const auto& [lane, s] : all) {
            if (s.place != first || s.begin.femtoseconds > tick) continue;
            if (last == nullptr || last->begin <= s.begin) last = &s;
        }
        ++shares.kind[last->kind];
    }
    return shares;
}

RC_GTEST_PROP(attribution, gives_every_tick_to_what_the_definition_says, (std::vector<std::uint16_t> numbers)) {
    const std::vector<Placed> all = random_stretches(numbers);
    Attribution attribution(lanes, kinds);
    attribution.add(LaneId{1}, {{0}, {5}, 2, 3});
    attribution.run({7});
    attribution.clear();  // nothing is left of a run before
    for (const auto& [lane, activity] : all) attribution.add(LaneId{lane}, activity);
    const Shares expected = naive(all);
    RC_ASSERT(attribution.run({length}) == since_start({expected.idle}));
    RC_ASSERT(attribution.busy() == since_start({expected.place.front() + expected.place.back()}));
    for (std::uint32_t p = 0; p <= lanes; ++p) RC_ASSERT(attribution.exposed_at(p) == since_start({expected.place[p]}));
    for (std::uint32_t k = 0; k < kinds; ++k) RC_ASSERT(attribution.exposed(k) == since_start({expected.kind[k]}));
}

TEST(attribution, refuses_a_lane_that_goes_back_in_time) {
    Attribution attribution(lanes, kinds);
    attribution.add(LaneId{0}, {{4}, {6}, 0, 0});
    attribution.add(LaneId{0}, {{5}, {7}, 0, 0});
    EXPECT_THROW(attribution.run({9}), LogicError);
}

}  // namespace
}  // namespace weft
