#include "sim/engine/exchange_ops.hpp"

namespace weft {

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
