// What exchanges do one after the other, as the event loop wants it: of the legs of each communication only what takes
// time, with latencies rounded to the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/engine/ticks.hpp"
#include "sim/network/network_model.hpp"
#include "sim/program/program.hpp"

namespace weft {

// Whether exchanges take the time of their legs, or none.
enum class LegTime : std::uint8_t { real, none };

class ExchangeSteps {
  public:
    enum class Kind : std::uint8_t { latency, flow, end };
    struct Step {
        Kind kind = Kind::end;
        PatternId pattern{};     // of a flow
        std::int64_t ticks = 0;  // of a latency, or of a flow that is alone, where the network can tell
        Bytes bytes{};           // of a flow
    };

    explicit ExchangeSteps(const Program& program, LegTime leg_time = LegTime::real);

    // Asks the network how long flows take that are alone.
    template <ForesightNetwork N>
    void time_flows(const N& network) {
        for (Step& step : steps_) {
            if (step.kind == Kind::flow) step.ticks = weft::ticks(step.bytes / network.lone_rate(step.pattern));
        }
    }

    // Where those of a communication begin; they end with Kind::end.
    std::uint32_t first(CommunicationId communication) const { return first_[communication]; }
    const Step& operator[](std::uint32_t at) const { return steps_[at]; }
    // Those of a communication, without the end.
    std::span<const Step> of(CommunicationId communication) const {
        const bool is_last = next(communication) == first_.end_id();
        const std::size_t first = first_[communication], past = is_last ? steps_.size() : first_[next(communication)];
        return std::span(steps_).subspan(first, past - 1 - first);
    }

  private:
    Table<CommunicationId, std::uint32_t> first_;
    std::vector<Step> steps_;
};

// The ops that take part in each exchange.
struct Party {
    OpId op{};  // that takes part
    RankClassId rank_class{};
};

class ExchangeOps {
  public:
    explicit ExchangeOps(const Program& program);

    // In op order.
    std::span<const Party> of(ExchangeId exchange) const { return between(first(exchange), first(next(exchange))); }
    // Of that exchange, or past those of the last one: for `between`.
    std::uint32_t first(ExchangeId exchange) const { return start_[index(exchange)]; }
    std::span<const Party> between(std::uint32_t first, std::uint32_t end) const {
        return {parties_.data() + first, parties_.data() + end};
    }

  private:
    std::vector<std::uint32_t> start_;  // CSR over ExchangeId, size exchanges + 1
    std::vector<Party> parties_;
};

// The ops of a program without routines in an order in which they can be over, the parties of an exchange one after
// another. Without those that can never be.
std::vector<OpId> order_of(const Program& program, const ExchangeOps& parties);

}  // namespace weft
