// Every member sends its message to the next one round the ring and receives that of the one before (nccl-tests'
// "sendrecv"). Who is next is the caller's matter: no other order of the members would be the same exchange.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {

extern const Algorithm ring_send_receive{
    .name = "ring",
    .op = Collective::send_receive,
    .chunks = [](const GroupShape&) { return std::uint32_t{1}; },
    .phases = [](const GroupShape&) { return std::vector{Phase{.peer = Peer::shift}}; },
    .transfers =
        [](const GroupShape& shape) {
            const std::uint32_t n = shape.members;
            std::vector<Transfer> transfers;
            for (std::uint32_t i = 0; i < n; ++i) transfers.push_back({0, i, (i + 1) % n, i, false});
            return transfers;
        },
    .order = Order::given,
};

}  // namespace weft::collective
