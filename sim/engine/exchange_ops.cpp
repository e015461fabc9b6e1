#include "sim/engine/exchange_ops.hpp"

namespace weft {

ExchangeOps::ExchangeOps(const Program& program) : start_(program.exchanges.size() + 1, 0) {
    for (const Op& op : program.ops) {
        if (op.kind == OpKind::exchange) ++start_[op.subject + 1];
    }
    for (std::size_t i = 1; i < start_.size(); ++i) start_[i] += start_[i - 1];
    parties_.resize(start_.back());
    std::vector<std::uint32_t> cursor(start_.begin(), start_.end() - 1);
    std::uint32_t number = 0;
    for (const RankClass& rank_class : program.classes) {
        for (std::uint32_t i = rank_class.begin_op(); i < rank_class.end_op(); ++i) {
            const Op& op = program.ops[OpId{i}];
            if (op.kind == OpKind::exchange) parties_[cursor[op.subject]++] = {OpId{i}, number};
        }
        ++number;
    }
}

}  // namespace weft
