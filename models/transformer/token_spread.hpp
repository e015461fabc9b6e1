// Over how many of the ranks, or nodes, that share the experts of a layer a token's experts lie.
#pragma once

#include <cstdint>
#include <string>

#include "models/transformer/transformer.hpp"

namespace weft {

// Expected number of the `units` (equal runs of experts, as ranks or nodes hold them) in which a token has at least one
// of its experts, every choice of them being as likely:
//   units (1 - C(E - E / units, k) / C(E, k))          E experts, k = top_k of them
// With experts in `groups`, of which a token's experts lie in `token_groups`, every choice of groups is as likely, too.
double expected_units(const Experts& experts, std::uint32_t units);

// Why expected_units() cannot say it: units and groups cut one another. Empty if it can.
std::string units_obstacle(const Experts& experts, std::uint32_t units);

}  // namespace weft
