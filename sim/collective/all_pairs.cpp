// Collectives in which every member sends to every other one at once, as is best where all are joined by links of their
// own.
#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

std::vector<Phase> two_shot_phases(const GroupShape& shape) {
    const double piece = 1.0 / shape.members;
    return {{.peer = Peer::all, .fraction = piece, .reduce = true}, {.peer = Peer::all, .fraction = piece}};
}

// Member i sends chunk `chunk_of(i, j)` to each other member j.
template <class ChunkOf>
void append_all_pairs(std::vector<Transfer>& transfers, std::uint32_t n, bool reduce, ChunkOf chunk_of) {
    const std::uint32_t round = rounds_of(transfers);
    for (std::uint32_t i = 0; i < n; ++i) {
        for (std::uint32_t j = 0; j < n; ++j) {
            if (j != i) transfers.push_back({round, i, j, chunk_of(i, j), reduce});
        }
    }
}

std::vector<Transfer> one_shot_transfers(const GroupShape& shape) {
    std::vector<Transfer> transfers;
    append_all_pairs(transfers, shape.members, true, [](std::uint32_t, std::uint32_t) { return 0U; });
    return transfers;
}

std::vector<Transfer> two_shot_transfers(const GroupShape& shape) {
    std::vector<Transfer> transfers;
    append_all_pairs(transfers, shape.members, true, [](std::uint32_t, std::uint32_t to) { return to; });
    append_all_pairs(transfers, shape.members, false, [](std::uint32_t from, std::uint32_t) { return from; });
    return transfers;
}

std::vector<Transfer> direct_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members;
    std::vector<Transfer> transfers;
    append_all_pairs(transfers, n, false, [n](std::uint32_t from, std::uint32_t to) { return from * n + to; });
    return transfers;
}

}  // namespace

// In a node: every member sends the whole message to every other one, and each adds for itself. One latency, for n - 1
// times the message: for the smallest ones.
extern const Algorithm one_shot_all_reduce{
    .name = "one_shot",
    .op = Collective::all_reduce,
    .chunks = one_chunk,
    .phases = [](const GroupShape&) { return std::vector{Phase{.peer = Peer::all, .reduce = true}}; },
    .transfers = one_shot_transfers,
    .runs = is_in_one_node,
    .order = Order::given,
};

// In a node: every member adds up its piece of all others' messages, then sends the sum to all. Two latencies, for the
// ring's 2 (n - 1)/n of the message.
extern const Algorithm two_shot_all_reduce{
    .name = "two_shot",
    .op = Collective::all_reduce,
    .phases = two_shot_phases,
    .transfers = two_shot_transfers,
    .runs = is_in_one_node,
    .order = Order::given,
};

// Every member sends every other its block at once, as grouped sends and receives do.
extern const Algorithm direct_all_to_all{
    .name = "direct",
    .op = Collective::all_to_all,
    .phases =
        [](const GroupShape& shape) { return std::vector{Phase{.peer = Peer::all, .fraction = 1.0 / shape.members}}; },
    .transfers = direct_transfers,
};

// Pairwise all-to-all: in round k every member sends its block for the member k after it and receives from the member k
// before it, one message at a time (Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66).

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
