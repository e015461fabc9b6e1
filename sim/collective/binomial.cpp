// Binomial trees: ceil(log2(n)) rounds, each with all of the message.
#include <bit>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

// From member 0 outwards.
std::vector<Phase> growth(const GroupShape& shape) {
    std::vector<Phase> phases;
    for (std::uint32_t d = 1; d < shape.members; d *= 2) phases.push_back({.peer = Peer::grow, .distance = d});
    return phases;
}

// In to the last member: the same tree seen from there, backwards.
std::vector<Phase> shrinkage(const GroupShape& shape) {
    std::vector<Phase> phases;
    for (std::uint32_t d = std::bit_ceil(shape.members) / 2; d > 0; d /= 2) {
        phases.push_back({.peer = Peer::shrink, .distance = d, .reduce = true});
    }
    return phases;
}

}  // namespace

// In every round all members that have the message pass it on, so that as many again have it.
extern const Algorithm binomial_broadcast{
    .name = "binomial",
    .op = Collective::broadcast,
    .chunks = one_chunk,
    .phases = growth,
    .transfers = [](const GroupShape& shape) { return whole_messages(growth(shape), shape.members); },
};

// In every round half of the members that are left add their sum to another's, and the last is left.
extern const Algorithm binomial_reduce{
    .name = "binomial",
    .op = Collective::reduce,
    .chunks = one_chunk,
    .phases = shrinkage,
    .transfers = [](const GroupShape& shape) { return whole_messages(shrinkage(shape), shape.members); },
};

}  // namespace weft::collective
