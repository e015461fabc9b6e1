// Ring broadcast: the chunks of the message follow one another down the chain of members, so that all links work at
// once. With k chunks it takes k + n - 2 rounds, in which each of the n - 1 senders is busy k times and waits n - 2
// times while the chain fills and drains.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

// Filling costs (n - 2)/k of the transfer itself: an eighth at most, less than what finer chunks would add in overhead.
std::uint32_t chunks_of(std::uint32_t n) { return 8 * n; }

std::vector<Phase> phases_of(std::uint32_t n) {
    const std::uint32_t k = chunks_of(n);
    const std::uint32_t rounds = k + n - 2;
    return {{.peer = Peer::chain,
             .fraction = 1.0 / k,
             .repeat = rounds,
             .hops = n - 1,
             .duty = static_cast<double>(k) / rounds}};
}

std::vector<Transfer> transfers_of(std::uint32_t n) {
    const std::uint32_t k = chunks_of(n);
    std::vector<Transfer> transfers;
    for (std::uint32_t round = 0; round < k + n - 2; ++round) {
        for (std::uint32_t i = 0; i + 1 < n && i <= round; ++i) {
            const std::uint32_t chunk = round - i;
            if (chunk < k) transfers.push_back({round, i, i + 1, chunk, false});
        }
    }
    return transfers;
}

}  // namespace

extern const Algorithm ring_broadcast{
    .name = "ring",
    .op = Collective::broadcast,
    .chunks = chunks_of,
    .phases = phases_of,
    .transfers = transfers_of,
};

}  // namespace weft::collective
