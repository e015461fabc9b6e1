// Stretches of a program in which a rank class meets nobody: computations and exchanges of its own groups, each after
// the one before. Of large programs that is often nearly everything.
//
// A chain is a row of links, which are ops that follow one another in the program. A link is one op, or an exchange and
// a computation side by side; its ops wait for those of the link before and for nothing else, and nothing else waits
// for those. So, as long as nobody interferes, all times of a chain are known when it begins.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/table.hpp"
#include "sim/program/program.hpp"

namespace weft {

class Chains {
  public:
    explicit Chains(const Program& program);

    // The op past the chain that `link` begins or goes on, which ends with a link of one op; 0 where there is none.
    std::uint32_t end(std::uint32_t link) const { return ends_[link]; }
    // How many ops a link has, 1 or 2. Only of links of chains.
    std::uint32_t ops(std::uint32_t link) const { return 1U + is_pair_[link]; }

  private:
    std::uint32_t find(std::uint32_t first, std::uint32_t end);
    std::uint32_t ops_of_link(std::uint32_t first, std::uint32_t end) const;
    bool follows(std::uint32_t link, std::uint32_t ops, std::uint32_t before, std::uint32_t ops_before) const;
    bool is_computation(std::uint32_t op) const;
    bool is_own_exchange(std::uint32_t op) const;

    const Program& program_;
    std::vector<std::uint32_t> ends_;    // by op
    std::vector<std::uint8_t> is_pair_;  // by op: 1 where it begins a link of two
};

}  // namespace weft
