// A collective algorithm as data, in two forms: compact phases that drive the simulation at any size, and explicit
// transfers that prove it at small sizes (tests execute them symbolically). One file per algorithm registers it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"

namespace weft {

enum class Collective : std::uint8_t {
    all_reduce,
    all_gather,
    reduce_scatter,
    broadcast,
    reduce,
    all_to_all,
    send_receive,  // each to the next round a ring, all at once
    point_to_point,
};

std::string_view name(Collective op);  // "all_reduce", ...

// Whom member i of n sends to in every round of a phase.
enum class Peer : std::uint8_t {
    shift,     // member (i + distance) mod n, all members
    chain,     // member i + 1, all members but the last
    exchange,  // member i xor distance, members below `span` (a power of two)
    fold,      // member i sends to i - distance, members at or above `distance` (the extra ones beyond a power of two)
    unfold,    // the reverse of fold
    all,       // every other member, all at once
};

// `repeat` equal rounds. In each, every sender moves `fraction` of the message to its peer (Peer::all: to each of its
// peers). `hops` is the number of messages on the critical path whose latencies add up: equal to `repeat` where each
// round waits for the one before, smaller where chunks follow one another down a chain.
struct Phase {
    Peer peer = Peer::shift;
    std::uint32_t distance = 1;
    std::uint32_t span = 0;  // members taking part in an `exchange`; 0 elsewhere
    double fraction = 1.0;
    std::uint32_t repeat = 1;
    std::uint32_t hops = 1;
    double duty = 1.0;  // share of the rounds in which a sender sends: below 1 where a chain fills and drains
    bool reduce = false;

    // What one sender moves to one peer in the whole phase, as a fraction of the message.
    double volume() const { return fraction * repeat * duty; }
};

// One message of one chunk. The message is cut into `chunks` equal pieces; all_to_all numbers them
// source * n + destination, send_receive by source, all_gather / reduce_scatter / all_reduce by owner or position.
// Without `reduce` the receiver's copy is replaced.
struct Transfer {
    std::uint32_t round, from, to, chunk;
    bool reduce;

    bool operator==(const Transfer&) const = default;
};

// For n >= 2 members the full message (nccl-tests convention: the larger of send and receive buffer) has `chunks(n)`
// pieces. The root of a broadcast, and the sender of a point_to_point, is member 0; the root of a reduce is the last.
struct Algorithm {
    std::string_view name;  // "ring", "halving_doubling", "direct"
    Collective op;
    std::uint32_t (*chunks)(std::uint32_t n);
    std::vector<Phase> (*phases)(std::uint32_t n);
    std::vector<Transfer> (*transfers)(std::uint32_t n);  // by round
    std::uint32_t most_members = std::numeric_limits<std::uint32_t>::max();
};

// The peer of member i in a phase among n, or n if i does not send. Not defined for Peer::all (LogicError).
std::uint32_t peer_of(const Phase& phase, std::uint32_t i, std::uint32_t n);

const Algorithm& find_algorithm(Collective op, std::string_view name);  // throws LogicError if unknown

// The algorithm that runs `op` on a message of this size: the bandwidth-optimal ring (direct messages where an
// operation has no ring), except for small all-reduces in larger groups, where the 2 log2(n) latencies of halving and
// doubling beat the ring's 2 (n - 1). The limits are round numbers, not a library's tuning table.
const Algorithm& choose(Collective op, std::uint32_t members, Bytes message);

namespace collective {
std::span<const Algorithm* const> all();  // every registered algorithm, sorted by file
}

}  // namespace weft
