// The inequalities that link bandwidths put on the rates of patterns:
//     for every constraint:  sum over patterns of  flows(pattern) * load * rate(pattern)  <=  capacity.
// Links with equal bandwidth and equal loads state the same inequality, so they are one constraint; that is how a
// symmetric machine folds. A constraint that another one implies is left out.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/link_patterns.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

enum class ConstraintId : std::uint32_t {};

struct Demand {
    ConstraintId constraint{};
    double load = 1.0;
};

struct Constraint {
    BytesPerSecond capacity;
    std::vector<Crossing> crossings;  // in pattern order
};

// In order of the first link of each. Tests solve them by other means.
std::vector<Constraint> find_constraints(const Topology& topology, const LinkPatterns& crossed);

// Leaves out constraints that can never bind before another one does: A is implied by B if every pattern on A is on B
// with load / capacity at least as large. Incomplete on purpose: each is compared with the tightest few on one of its
// patterns, which finds the uncontended links inside a node and costs next to nothing.
std::vector<Constraint> drop_implied(std::vector<Constraint> constraints, std::size_t patterns);

}  // namespace weft
