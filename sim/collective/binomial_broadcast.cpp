// Binomial broadcast: in every round all members that have the message pass it on, so that as many again have it.
#include "sim/collective/binomial.hpp"

namespace weft::collective {

extern const Algorithm binomial_broadcast{
    .name = "binomial",
    .op = Collective::broadcast,
    .chunks = [](const GroupShape&) { return std::uint32_t{1}; },
    .phases = binomial_growth,
    .transfers = [](const GroupShape& shape) { return whole_messages(binomial_growth(shape), shape.members); },
};

}  // namespace weft::collective
