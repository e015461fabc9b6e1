// What exchanges do one after the other, as the event loop wants it: of the legs of each communication only what takes
// time, with latencies rounded to the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/table.hpp"
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

    explicit ExchangeSteps(const Program& program, LegTime leg_time = LegTime::real) {
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
    explicit ExchangeOps(const Program& program) : start_(program.exchanges.size() + 1, 0) {
        const auto for_each = [&program](auto see) {
            for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
                for (OpId op{program.classes[id].begin_op()}; index(op) < program.classes[id].end_op(); op = next(op)) {
                    const Op& what = program.ops.shared(op, id);
                    if (what.kind == OpKind::exchange) see(index(program.ops.exchange(what, id)), Party{op, id});
                }
            }
        };
        for_each([this](std::size_t exchange, const Party&) { ++start_[exchange + 1]; });
        for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
        parties_.resize(start_.back());
        std::vector<std::uint32_t> cursor(start_.begin(), start_.end() - 1);
        for_each([&](std::size_t exchange, const Party& party) { parties_[cursor[exchange]++] = party; });
    }

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
inline std::vector<OpId> order_of(const Program& program, const ExchangeOps& parties) {
    Table<OpId, std::uint32_t> waits_for;
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) waits_for.push_back(program.predecessors_of(op));
    Table<ExchangeId, std::uint32_t> missing;
    for (const Exchange& exchange : program.exchanges) missing.push_back(exchange.parties);
    std::vector<OpId> order;
    order.reserve(program.ops.size());
    const auto post = [&](OpId op) {
        const Op what = program.ops[op];
        if (what.kind != OpKind::exchange) return order.push_back(op);
        const auto exchange = ExchangeId(what.subject);
        if (--missing[exchange] > 0) return;
        for (const Party& party : parties.of(exchange)) order.push_back(party.op);
    };
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        if (program.predecessors_of(op) == 0) post(op);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const OpId after : program.successors_of(order[i])) {
            if (--waits_for[after] == 0) post(after);
        }
    }
    return order;
}

}  // namespace weft
