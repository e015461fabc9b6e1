// A send and its receive: member 0 to member 1.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {

extern const Algorithm point_to_point{
    .name = "direct",
    .op = Collective::point_to_point,
    .chunks = [](std::uint32_t) { return std::uint32_t{1}; },
    .phases = [](std::uint32_t) { return std::vector{Phase{.peer = Peer::chain}}; },
    .transfers =
        [](std::uint32_t) {
            return std::vector{Transfer{0, 0, 1, 0, false}};
        },
    .most_members = 2,
};

}  // namespace weft::collective
