// Rings, on which every member sends to the next one only.
#include "sim/collective/algorithm.hpp"
#include "sim/collective/rings.hpp"

namespace weft::collective {
namespace {

// A message that is passed down the chain of members in chunks, all links working at once. With k chunks it takes
// k + n - 2 rounds, in which each of the n - 1 senders is busy k times and waits n - 2 times while the chain fills and
// drains. Filling costs (n - 2)/k of the transfer itself: an eighth at most, less than what finer chunks would add in
// overhead.
std::uint32_t chain_chunks(const GroupShape& shape) { return 8 * shape.members; }

template <bool reduce>
std::vector<Phase> chain_phases(const GroupShape& shape) {
    const std::uint32_t n = shape.members, k = chain_chunks(shape), rounds = k + n - 2;
    return {{.peer = Peer::chain,
             .fraction = 1.0 / k,
             .repeat = rounds,
             .hops = n - 1,
             .duty = static_cast<double>(k) / rounds,
             .reduce = reduce}};
}

template <bool reduce>
std::vector<Transfer> chain_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members, k = chain_chunks(shape);
    std::vector<Transfer> transfers;
    for (std::uint32_t round = 0; round < k + n - 2; ++round) {
        for (std::uint32_t i = 0; i + 1 < n && i <= round; ++i) {
            const std::uint32_t chunk = round - i;
            if (chunk < k) transfers.push_back({round, i, i + 1, chunk, reduce});
        }
    }
    return transfers;
}

}  // namespace

// Every block goes once round the ring. Bandwidth-optimal: (n - 1)/n of the result per member.
extern const Algorithm ring_all_gather{
    .name = "ring",
    .op = Collective::all_gather,
    .phases = ring_phases<gather>,
    .transfers = ring_transfers<gather>,
};

// Reduce-scatter, then all-gather. Bandwidth-optimal: 2 (n - 1)/n of the message per member (Patarasuk and Yuan,
// J. Parallel Distrib. Comput. 69 (2009) 117-124), at the price of 2 (n - 1) latencies.
extern const Algorithm ring_all_reduce{
    .name = "ring",
    .op = Collective::all_reduce,
    .phases = ring_phases<scatter, gather>,
    .transfers = ring_transfers<scatter, gather>,
};

// The message goes down the chain from member 0.
extern const Algorithm ring_broadcast{
    .name = "ring",
    .op = Collective::broadcast,
    .chunks = chain_chunks,
    .phases = chain_phases<false>,
    .transfers = chain_transfers<false>,
};

// Every member adds its own contribution to what comes down the chain; the last one has the sum.
extern const Algorithm ring_reduce{
    .name = "ring",
    .op = Collective::reduce,
    .chunks = chain_chunks,
    .phases = chain_phases<true>,
    .transfers = chain_transfers<true>,
};

// Every block goes once round the ring, reduced as it goes to its owner. Bandwidth-optimal: (n - 1)/n of the input per
// member.
extern const Algorithm ring_reduce_scatter{
    .name = "ring",
    .op = Collective::reduce_scatter,
    .phases = ring_phases<scatter>,
    .transfers = ring_transfers<scatter>,
};

// Every member sends its message to the next one round the ring and receives that of the one before (nccl-tests'
// "sendrecv"). Who is next is the caller's matter: no other order of the members would be the same exchange.
extern const Algorithm ring_send_receive{
    .name = "ring",
    .op = Collective::send_receive,
    .chunks = one_chunk,
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

// A send and its receive: member 0 to member 1.

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
