#include "sim/engine/exchange_steps.hpp"

#include <span>

#include "sim/engine/ticks.hpp"

namespace weft {

ExchangeSteps::ExchangeSteps(const Program& program) {
    first_.reserve(program.communications.size());
    steps_.reserve(2 * program.legs.size() + program.communications.size());
    for (const Communication& what : program.communications) {
        first_.push_back(static_cast<std::uint32_t>(steps_.size()));
        for (const Leg& leg : std::span(program.legs).subspan(what.first_leg, what.legs)) {
            if (leg.latency > Seconds{}) steps_.push_back({Kind::latency, {}, ticks(leg.latency), {}});
            if (leg.bytes == Bytes{} || is_unlimited(program.patterns[leg.pattern])) continue;
            steps_.push_back({Kind::flow, leg.pattern, 0, leg.bytes});
        }
        steps_.push_back({});
    }
}

}  // namespace weft
