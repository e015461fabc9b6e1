// What the event loop reads and writes of an op, and of an exchange, whenever something happens to it. A large program
// has tables many times as large as a cache, and every op is somewhere else in them, so what is looked at together lies
// together: eight ops, or five exchanges, on a cache line.
#pragma once

#include <cstdint>
#include <span>

#include "sim/base/check.hpp"
#include "sim/base/table.hpp"
#include "sim/engine/exchange_ops.hpp"
#include "sim/engine/exchange_steps.hpp"
#include "sim/program/program.hpp"

namespace weft {

struct OpState {
    static constexpr std::uint32_t most_predecessors = (1U << 24U) - 1;

    std::uint32_t waits_for : 24 = 0;  // predecessors that are not over; of a routine's op they start anew each time
    std::uint32_t is_of_routine : 1 = 0;
    std::uint32_t is_head : 1 = 0;      // of what may run ahead
    std::uint32_t leads_on : 1 = 0;     // nothing waits for it but the op after it, as it is with nearly all
    std::uint32_t first_successor = 0;  // Program::successor_start
};
static_assert(sizeof(OpState) == 8);

struct ExchangeState {
    std::uint32_t missing = 0;      // parties that have not arrived, with the one that comes
    std::uint32_t step = 0;         // of ExchangeSteps: the one under way, or the first
    std::uint32_t first_party = 0;  // in ExchangeOps
};

// Those of the ops, and one that tells where the successors of the last one end.
template <class Ahead>
Table<OpId, OpState> op_states(const Program& program, const Ahead& ahead) {
    Table<OpId, OpState> states(program.ops.size() + 1);
    for (OpId id{}; id != program.ops.end_id(); id = next(id)) {
        WEFT_CHECK(program.predecessors[id] <= OpState::most_predecessors, "an op waits for too many others");
        OpState& state = states[id];
        state.waits_for = program.predecessors[id] & OpState::most_predecessors;
        state.is_head = ahead.is_head(id) ? 1 : 0;
        const std::span<const OpId> successors = program.successors_of(id);
        state.leads_on = successors.size() == 1 && successors.front() == next(id) ? 1 : 0;
        state.first_successor = program.successor_start[index(id)];
    }
    states[program.ops.end_id()].first_successor = program.successor_start.back();
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t op = rank_class.begin_op(); op < rank_class.first_op; ++op) {
            states[OpId{op}].is_of_routine = 1;
        }
    }
    return states;
}

// Those of the exchanges, and one that tells where the parties of the last one end.
inline Table<ExchangeId, ExchangeState> exchange_states(const Program& program, const ExchangeSteps& steps,
                                                        const ExchangeOps& parties) {
    Table<ExchangeId, ExchangeState> states(program.exchanges.size() + 1);
    for (ExchangeId id{}; id != program.exchanges.end_id(); id = next(id)) {
        const Exchange& exchange = program.exchanges[id];
        states[id] = {exchange.parties, steps.first(exchange.communication), parties.first(id)};
    }
    states[program.exchanges.end_id()].first_party = parties.first(program.exchanges.end_id());
    return states;
}

}  // namespace weft
