// Random programs for properties.
#pragma once

#include <rapidcheck.h>

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/sim/engine/toy_program.hpp"
#include "tests/sim/network/arbitrary.hpp"

namespace weft::toy {

// A random program without deadlock: every class posts its exchanges in one global order.
inline Program arbitrary_program(const System& system) {
    Script script;
    std::vector<PatternId> patterns;
    for (const Pattern& pattern : system.patterns) patterns.push_back(script.builder.pattern(pattern));
    const auto classes = *rc::gen::inRange<std::uint32_t>(1, 5);
    const auto exchanges = *rc::gen::inRange<std::size_t>(0, 12);
    std::vector<std::pair<ExchangeId, std::uint32_t>> sequence;  // exchange, set of classes
    for (std::size_t i = 0; i < exchanges; ++i) {
        const auto members = *rc::gen::inRange<std::uint32_t>(1, 1U << classes);
        std::vector<Leg> legs(*rc::gen::inRange<std::size_t>(0, 4));
        for (Leg& leg : legs) {
            leg = {patterns[*rc::gen::inRange<std::size_t>(0, patterns.size())],
                   {*rc::gen::inRange(0, 3) * 0.125},
                   {*rc::gen::inRange(0, 4) * 5.0}};
        }
        sequence.emplace_back(script.exchange(legs, static_cast<std::uint32_t>(std::popcount(members))), members);
    }
    for (std::uint32_t c = 0; c < classes; ++c) {
        script.begin("class");
        std::vector<OpId> known;
        for (const auto& [exchange, members] : sequence) {
            if ((members >> c & 1U) == 0) continue;
            if (*rc::gen::arbitrary<bool>()) known.push_back(script.work({*rc::gen::inRange(0, 5) * 0.25}));
            const LaneId lane = *rc::gen::element(tensor_lane, data_lane);
            const OpId before = known.empty() ? OpId{} : *rc::gen::elementOf(known);
            known.push_back(known.empty() ? script.take_part(exchange, {}, lane)
                                          : script.take_part(exchange, {before}, lane));
            if (*rc::gen::arbitrary<bool>()) known.push_back(script.join({known.back()}));
        }
    }
    return script.finish();
}

}  // namespace weft::toy
