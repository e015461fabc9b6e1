// Binomial reduce: in every round half of the members that are left add their sum to another's, and the last is left.
#include "sim/collective/binomial.hpp"

namespace weft::collective {

extern const Algorithm binomial_reduce{
    .name = "binomial",
    .op = Collective::reduce,
    .chunks = [](const GroupShape&) { return std::uint32_t{1}; },
    .phases = binomial_shrinkage,
    .transfers = [](const GroupShape& shape) { return whole_messages(binomial_shrinkage(shape), shape.members); },
};

}  // namespace weft::collective
