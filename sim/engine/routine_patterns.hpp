// Which patterns the exchanges of routines move bytes on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/exchange_steps.hpp"
#include "sim/program/program.hpp"

namespace weft {

class RoutinePatterns {
  public:
    // Both must outlive this.
    RoutinePatterns(const Program& program, const ExchangeSteps& steps);

    struct Use {
        PatternId pattern{};
        std::uint32_t last = 0;  // op that uses it
    };
    // Each pattern once.
    std::span<const Use> of(RoutineId routine) const {
        return {uses_.data() + first_[index(routine)], uses_.data() + first_[index(routine) + 1]};
    }
    // The first op from `from` on that uses it; there is one.
    std::uint32_t next_use(PatternId pattern, std::uint32_t from) const;

  private:
    bool uses(OpId op, PatternId pattern) const;

    const Program& program_;
    const ExchangeSteps& steps_;
    std::vector<Use> uses_;              // routine by routine
    std::vector<std::size_t> first_{0};  // CSR over RoutineId
};

}  // namespace weft
