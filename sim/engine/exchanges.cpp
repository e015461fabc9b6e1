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

}  // namespace weft
