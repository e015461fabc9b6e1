// A send and its receive: member 0 to member 1.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {

extern const Algorithm point_to_point{
    .name = "direct",
    .op = Collective::point_to_point,
    .chunks = one_chunk,
    .phases = [](const GroupShape&) { return std::vector{Phase{.peer = Peer::chain}}; },
    .transfers =
        [](const GroupShape&) {
            return std::vector{Transfer{0, 0, 1, 0, false}};
        },
    .runs = [](const GroupShape& shape) { return shape.members == 2; },
    .order = Order::given,
};

}  // namespace weft::collective
