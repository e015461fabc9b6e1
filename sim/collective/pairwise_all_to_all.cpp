// Pairwise all-to-all: in round k every member sends its block for the member k after it and receives from the member k
// before it, one message at a time (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66).
#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> pairwise_phases(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Phase> phases;
    for (std::uint32_t k = 1; k < n; ++k) phases.push_back({.distance = k, .fraction = 1.0 / n});
    return phases;
}

std::vector<Transfer> pairwise_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    for (std::uint32_t k = 1; k < n; ++k) {
        for (std::uint32_t from = 0; from < n; ++from) {
            const std::uint32_t to = (from + k) % n;
            transfers.push_back({k - 1, from, to, from * n + to, false});
        }
    }
    return transfers;
}

}  // namespace

extern const Algorithm pairwise_all_to_all{
    .name = "pairwise",
    .op = Collective::all_to_all,
    .phases = pairwise_phases,
    .transfers = pairwise_transfers,
};

}  // namespace weft::collective
