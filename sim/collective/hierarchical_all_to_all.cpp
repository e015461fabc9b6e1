// Hierarchical all-to-all: inside every node members exchange what is for each place, then members of equal place
// exchange it across nodes, per_node blocks in one message: fewer and larger messages between nodes, for the price of
// sending most blocks twice.
#include "sim/collective/two_level.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> phases_of(const GroupShape& shape) {
    const std::uint32_t m = shape.per_node(), nodes = shape.blocks();
    std::vector<Phase> phases;
    for (std::uint32_t k = 1; k < m; ++k) {
        phases.push_back({.peer = Peer::shift_in_span, .distance = k, .span = m, .fraction = 1.0 / m});
    }
    for (std::uint32_t k = 1; k < nodes; ++k) phases.push_back({.distance = k * m, .fraction = 1.0 / nodes});
    return phases;
}

std::vector<Transfer> transfers_of(const GroupShape& shape) {
    const std::uint32_t n = shape.members, m = shape.per_node(), nodes = shape.blocks();
    std::vector<Transfer> transfers;
    std::uint32_t round = 0;
    for (std::uint32_t k = 1; k < m; ++k, ++round) {  // all that is for members at the place of `to`
        for (std::uint32_t from = 0; from < n; ++from) {
            const std::uint32_t place = (from + k) % m, to = from - from % m + place;
            for (std::uint32_t target = place; target < n; target += m) {
                transfers.push_back({round, from, to, from * n + target, false});
            }
        }
    }
    for (std::uint32_t k = 1; k < nodes; ++k, ++round) {  // all that the node has for `to`
        for (std::uint32_t from = 0; from < n; ++from) {
            const std::uint32_t to = (from + k * m) % n, node = from - from % m;
            for (std::uint32_t source = node; source < node + m; ++source) {
                transfers.push_back({round, from, to, source * n + to, false});
            }
        }
    }
    return transfers;
}

}  // namespace

extern const Algorithm hierarchical_all_to_all{
    .name = "hierarchical",
    .op = Collective::all_to_all,
    .chunks = [](const GroupShape& shape) { return shape.members; },
    .phases = phases_of,
    .transfers = transfers_of,
    .runs = has_two_levels,
    .order = Order::trees,
};

}  // namespace weft::collective
