#include "sim/engine/exchange_steps.hpp"

#include <span>

#include "sim/engine/ticks.hpp"

namespace weft {

ExchangeSteps::ExchangeSteps(const Program& program, LegTime leg_time) {
    first_.reserve(program.communications.size());
    steps_.reserve(2 * program.legs.size() + program.communications.size());
    for (const Communication& what : program.communications) {
        first_.push_back(static_cast<std::uint32_t>(steps_.size()));
        const std::size_t legs = leg_time == LegTime::real ? what.legs : 0;
        for (const Leg& leg : std::span(program.legs).subspan(what.first_leg, legs)) {
            if (leg.latency > Seconds{}) steps_.push_back({Kind::latency, {}, ticks(leg.latency), {}});
            if (leg.bytes == Bytes{} || is_unlimited(program.patterns[leg.pattern])) continue;
            steps_.push_back({Kind::flow, leg.pattern, 0, leg.bytes});
        }
        steps_.push_back({});
    }
}

}  // namespace weft
