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
    std::span<const Party> of(ExchangeId exchange) const {
        return {parties_.data() + start_[index(exchange)], parties_.data() + start_[index(exchange) + 1]};
    }

  private:
    std::vector<std::uint32_t> start_;  // CSR over ExchangeId, size exchanges + 1
    std::vector<Party> parties_;
};

}  // namespace weft
