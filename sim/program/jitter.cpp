#include "sim/program/jitter.hpp"

#include "sim/base/hash.hpp"

namespace weft {

double Jitter::factor(RankId rank, std::uint64_t computation) const {
    const std::uint64_t random = hash_of({seed, index(rank), computation});
    const double share = static_cast<double>(random >> 11) * 0x1p-53;  // the 53 bits of a double: 0 to below 1
    return 1.0 + 2.0 * spread * share;
}

}  // namespace weft
