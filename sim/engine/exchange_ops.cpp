#include "sim/engine/exchange_ops.hpp"

namespace weft {

ExchangeOps::ExchangeOps(const Program& program) : start_(program.exchanges.size() + 1, 0) {
    for (const Op& op : program.ops) {
        if (op.kind == OpKind::exchange) ++start_[op.subject + 1];
    }
    for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
    ops_.resize(start_.back());
    std::vector<std::uint32_t> cursor(start_.begin(), start_.end() - 1);
    for (OpId id{}; id != program.ops.end_id(); id = next(id)) {
        const Op& op = program.ops[id];
        if (op.kind == OpKind::exchange) ops_[cursor[op.subject]++] = id;
    }
}

}  // namespace weft
