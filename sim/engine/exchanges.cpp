#include "sim/engine/exchanges.hpp"

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

ExchangeOps::ExchangeOps(const Program& program) : start_(program.exchanges.size() + 1, 0) {
    for (const Op& op : program.ops) {
        if (op.kind == OpKind::exchange) ++start_[op.subject + 1];
    }
    for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
    parties_.resize(start_.back());
    std::vector<std::uint32_t> cursor(start_.begin(), start_.end() - 1);
    for (RankClassId id{}; id != program.classes.end_id(); id = next(id)) {
        for (OpId op{program.classes[id].begin_op()}; index(op) < program.classes[id].end_op(); op = next(op)) {
            const Op& what = program.ops[op];
            if (what.kind == OpKind::exchange) parties_[cursor[what.subject]++] = {op, id};
        }
    }
}

std::vector<OpId> order_of(const Program& program, const ExchangeOps& parties) {
    Table<OpId, std::uint32_t> waits_for = program.predecessors;
    Table<ExchangeId, std::uint32_t> missing;
    for (const Exchange& exchange : program.exchanges) missing.push_back(exchange.parties);
    std::vector<OpId> order;
    order.reserve(program.ops.size());
    const auto post = [&](OpId op) {
        const Op& what = program.ops[op];
        if (what.kind != OpKind::exchange) return order.push_back(op);
        const auto exchange = ExchangeId(what.subject);
        if (--missing[exchange] > 0) return;
        for (const Party& party : parties.of(exchange)) order.push_back(party.op);
    };
    for (OpId op{}; op != program.ops.end_id(); op = next(op)) {
        if (program.predecessors[op] == 0) post(op);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        for (const OpId after : program.successors_of(order[i])) {
            if (--waits_for[after] == 0) post(after);
        }
    }
    return order;
}

}  // namespace weft
