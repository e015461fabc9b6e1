// The ops that take part in each exchange.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/program/program.hpp"

namespace weft {

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

}  // namespace weft
