// The rounds of a message that is passed down the chain of members in chunks, all links working at once. With k chunks
// it takes k + n - 2 rounds, in which each of the n - 1 senders is busy k times and waits n - 2 times while the chain
// fills and drains.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {

// Filling costs (n - 2)/k of the transfer itself: an eighth at most, less than what finer chunks would add in overhead.
inline std::uint32_t chain_chunks(std::uint32_t n) { return 8 * n; }

inline Phase chain_phase(std::uint32_t n) {
    const std::uint32_t k = chain_chunks(n);
    const std::uint32_t rounds = k + n - 2;
    return {.peer = Peer::chain,
            .fraction = 1.0 / k,
            .repeat = rounds,
            .hops = n - 1,
            .duty = static_cast<double>(k) / rounds};
}

inline std::vector<Transfer> chain_transfers(std::uint32_t n) {
    const std::uint32_t k = chain_chunks(n);
    std::vector<Transfer> transfers;
    for (std::uint32_t round = 0; round < k + n - 2; ++round) {
        for (std::uint32_t i = 0; i + 1 < n && i <= round; ++i) {
            const std::uint32_t chunk = round - i;
            if (chunk < k) transfers.push_back({round, i, i + 1, chunk, false});
        }
    }
    return transfers;
}

}  // namespace weft::collective
