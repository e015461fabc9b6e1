#include "sim/cost/decision.hpp"

#include <algorithm>
#include <bit>

namespace weft {

bool serves(const std::vector<Collective>& ops, Collective op) {
    return ops.empty() || std::ranges::find(ops, op) != ops.end();
}

bool Decision::is_for(Collective op) const { return std::ranges::find(ops, op) != ops.end(); }

bool Decision::holds(Collective op, const GroupShape& shape, Bytes message) const {
    const std::uint32_t n = shape.members;
    const bool here = where == Where::anywhere || (where == Where::in_node) == (shape.nodes == 1);
    return is_for(op) && here && n >= least_members && n <= most_members && (!power_of_two || std::has_single_bit(n)) &&
           message > over && message <= most;
}

}  // namespace weft
