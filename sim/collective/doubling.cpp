// Rounds in which partners at a distance of a power of two exchange blocks, among the largest power of two of members;
// members beyond it fold their contribution into a partner first and get the result from it last (Thakur, Rabenseifner,
// Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66). In recursive doubling partners exchange all that they
// have; in recursive halving a member keeps half of what it has and sends the other half. log2(n) rounds each.
#include <bit>
#include <cstddef>

#include "sim/collective/algorithm.hpp"

namespace weft::collective {
namespace {

std::uint32_t core_of(std::uint32_t n) { return std::bit_floor(n); }

// The phases of the core of n members, with what those beyond it add before and get after them.
std::vector<Phase> folded(std::vector<Phase> phases, std::uint32_t n) {
    if (core_of(n) == n) return phases;
    phases.insert(phases.begin(), {.peer = Peer::fold, .distance = core_of(n), .reduce = true});
    phases.push_back({.peer = Peer::unfold, .distance = core_of(n)});
    return phases;
}

// In a round of distance d, aligned blocks of d chunks change hands: d/p of the message.
Phase block_exchange(std::uint32_t core, std::uint32_t distance, bool reduce) {
    return {.peer = Peer::exchange,
            .distance = distance,
            .span = core,
            .fraction = static_cast<double>(distance) / core,
            .reduce = reduce};
}

// Recursive doubling of blocks: an all-gather among the core.
void append_doubling(std::vector<Phase>& phases, std::uint32_t core) {
    for (std::uint32_t d = 1; d < core; d *= 2) phases.push_back(block_exchange(core, d, false));
}

// Before a doubling round of distance d, member i holds the aligned block of d chunks that contains i, and sends it;
// a halving round is the mirror image: it sends the block that its partner is to keep.
void append_block_exchange(std::vector<Transfer>& transfers, std::uint32_t round, const Phase& phase) {
    const std::uint32_t d = phase.distance;
    for (std::uint32_t i = 0; i < phase.span; ++i) {
        const std::uint32_t partner = i ^ d;
        const std::uint32_t first = (phase.reduce ? partner : i) / d * d;
        for (std::uint32_t chunk = first; chunk < first + d; ++chunk) {
            transfers.push_back({round, i, partner, chunk, phase.reduce});
        }
    }
}

// The ring's 2 (p - 1)/p of the message per member of the core in 2 log2(p) rounds.
std::vector<Phase> halving_phases(const GroupShape& shape) {
    const std::uint32_t core = core_of(shape.members);
    std::vector<Phase> phases;
    for (std::uint32_t d = core / 2; d > 0; d /= 2) phases.push_back(block_exchange(core, d, true));
    append_doubling(phases, core);
    return folded(std::move(phases), shape.members);
}

// Of phases that exchange blocks of the core's chunks.
std::vector<Transfer> block_transfers(const GroupShape& shape, const std::vector<Phase>& phases) {
    std::vector<Transfer> transfers;
    for (const Phase& phase : phases) {
        const std::uint32_t round = rounds_of(transfers);
        if (phase.peer == Peer::exchange) {
            append_block_exchange(transfers, round, phase);
        } else {
            append_whole_messages(transfers, round, phase, shape.members, core_of(shape.members));
        }
    }
    return transfers;
}

std::vector<Phase> scatter_phases(const GroupShape& shape) {
    const std::uint32_t n = shape.members, core = core_of(n);
    std::vector<Phase> phases;
    for (std::uint32_t d = core / 2; d > 0; d /= 2) {
        Phase phase = block_exchange(core, d, true);
        phase.fraction = static_cast<double>(d) / n;
        phase.doubled = n - core;
        phases.push_back(phase);
    }
    phases = folded(std::move(phases), n);
    if (core < n) phases.back().fraction = 1.0 / n;
    return phases;
}

// Chunks of the core's members, and in the same messages those of the members beyond it that their partners keep.
std::vector<Transfer> scatter_transfers(const GroupShape& shape) {
    const std::uint32_t n = shape.members, core = core_of(n);
    std::vector<Transfer> transfers;
    for (const Phase& phase : scatter_phases(shape)) {
        const std::uint32_t round = rounds_of(transfers);
        if (phase.peer == Peer::fold) append_whole_messages(transfers, round, phase, n, n);
        if (phase.peer == Peer::unfold) {
            for (std::uint32_t i = core; i < n; ++i) transfers.push_back({round, i - core, i, i, false});
        }
        if (phase.peer == Peer::exchange) {
            append_block_exchange(transfers, round, phase);
            for (std::size_t t = transfers.size(); t-- > 0 && transfers[t].round == round;) {
                Transfer beyond = transfers[t];
                beyond.chunk += core;
                if (beyond.chunk < n) transfers.push_back(beyond);
            }
        }
    }
    return transfers;
}

std::vector<Phase> doubling_phases(const GroupShape& shape) {
    std::vector<Phase> phases;
    append_doubling(phases, shape.members);
    return phases;
}

std::vector<Phase> folded_doubling_phases(const GroupShape& shape) {
    const std::uint32_t core = core_of(shape.members);
    std::vector<Phase> phases;
    for (std::uint32_t d = 1; d < core; d *= 2) {
        phases.push_back({.peer = Peer::exchange, .distance = d, .span = core, .reduce = true});
    }
    return folded(std::move(phases), shape.members);
}

}  // namespace

// A reduce-scatter, then an all-gather by recursive doubling.
extern const Algorithm halving_doubling_all_reduce{
    .name = "halving_doubling",
    .op = Collective::all_reduce,
    .chunks = [](const GroupShape& shape) { return core_of(shape.members); },
    .phases = halving_phases,
    .transfers = [](const GroupShape& shape) { return block_transfers(shape, halving_phases(shape)); },
};

// Bandwidth-optimal where n is a power of two. Members beyond one first send all they have to a partner and get their
// sum from it last.
extern const Algorithm halving_doubling_reduce_scatter{
    .name = "halving_doubling",
    .op = Collective::reduce_scatter,
    .phases = scatter_phases,
    .transfers = scatter_transfers,
};

// Of all that they have gathered. Bandwidth-optimal; powers of two only.
extern const Algorithm recursive_doubling_all_gather{
    .name = "recursive_doubling",
    .op = Collective::all_gather,
    .phases = doubling_phases,
    .transfers = [](const GroupShape& shape) { return block_transfers(shape, doubling_phases(shape)); },
    .runs = [](const GroupShape& shape) { return std::has_single_bit(shape.members); },
};

// Of their sums of the whole message. The fewest latencies of all, log2(n), for log2(n) times the message: for small
// messages.
extern const Algorithm recursive_doubling_all_reduce{
    .name = "recursive_doubling",
    .op = Collective::all_reduce,
    .chunks = one_chunk,
    .phases = folded_doubling_phases,
    .transfers = [](const GroupShape& shape) { return whole_messages(folded_doubling_phases(shape), shape.members); },
};

}  // namespace weft::collective
