// How MPI libraries choose an algorithm: by a list of conditions, of which the first that holds decides.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/collective/algorithm.hpp"

namespace weft {

// Whether a row that names `ops` is for a collective; one that names none is for all.
bool serves(const std::vector<Collective>& ops, Collective op);

struct Decision {
    enum class Where : std::uint8_t { anywhere, in_node, across };

    std::string algorithm{};
    std::vector<Collective> ops{};
    std::uint32_t least_members = 0, most_members = std::numeric_limits<std::uint32_t>::max();
    bool power_of_two = false;      // of members, and no other number
    Where where = Where::anywhere;  // groups inside a node, or that span nodes
    Bytes over{-1.0};               // of the full message: above this
    Bytes most{std::numeric_limits<double>::infinity()};

    bool is_for(Collective op) const;
    bool holds(Collective op, const GroupShape& shape, Bytes message) const;
    bool operator==(const Decision&) const = default;
};

}  // namespace weft
