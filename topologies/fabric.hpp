// How a job finds the fabric of a machine: where its nodes are, how traffic is routed, what others send
// meanwhile, and which links are not as they should be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topologies/link_fault.hpp"
#include "topologies/route_choice.hpp"

namespace weft {

struct Fabric {
    std::optional<RouteChoice> routing{};    // absent: the machine's own
    std::vector<std::uint32_t> placement{};  // the machine's node that each node of the job is; empty: the first ones
    // By link class: the share of its bandwidth that other traffic takes, at least 0 and below 1. Packets wait for it,
    // too (see queueing.hpp).
    std::vector<std::pair<std::string, double>> background{};
    std::vector<LinkFault> link_faults{};
    bool operator==(const Fabric&) const = default;
};

constexpr bool may_be_background(double share) { return share >= 0.0 && share < 1.0; }

// Other traffic on these link classes, but where something is said of one already.
void add_load(Fabric& fabric, double share, const std::vector<std::string>& link_classes);

bool has_background(const Fabric& fabric, std::string_view link_class);  // any other traffic

}  // namespace weft
