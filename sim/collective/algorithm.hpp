// A collective algorithm as data, in two forms: compact phases that drive the simulation at any size, and explicit
// transfers that prove it at small sizes (tests execute them symbolically). A file per algorithm registers it for each
// of the collectives that it does.
#pragma once

#include <cstdint>
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

// How the members of a group sit on nodes.
struct GroupShape {
    std::uint32_t members = 1;
    std::uint32_t nodes = 1;
    bool even = true;  // every node has equally many members, and they follow one another
    // Of each node but the last, which has fewer, where members follow one another so; 0 elsewhere.
    std::uint32_t before_last = 0;

    std::uint32_t per_node() const { return even ? members / nodes : 1; }  // members of one block
    // The same where the last block may be smaller.
    std::uint32_t in_first() const { return before_last > 0 ? before_last : per_node(); }
    std::uint32_t blocks_of_first() const { return (members - 1) / in_first() + 1; }
    std::uint32_t blocks() const { return members / per_node(); }
    bool operator==(const GroupShape&) const = default;
};

// Whom member i of n sends to in every round of a phase.
enum class Peer : std::uint8_t {
    shift,          // member (i + distance) mod n, all members
    shift_in_span,  // the same inside each run of `span` members
    chain,          // member i + 1, all members but the last
    exchange,       // member i xor distance, members below `span` (a power of two)
    fold,           // member i sends to i - distance, members at or above `distance` (beyond a power of two)
    unfold,         // the reverse of fold
    grow,           // member i sends to i + distance, members below `distance` (a binomial tree's round)
    shrink,  // grow backwards from the last member: i sends to i + distance if i + 2 distance >= n > i + distance
    all,     // every other member, all at once
    listed,  // along `edges`
};

// A message of a listed phase.
struct Edge {
    std::uint32_t from = 0, to = 0;
    double weight = 1.0;  // of the phase's fraction
    bool operator==(const Edge&) const = default;
};

// `repeat` equal rounds. In each, every sender moves `fraction` of the message to its peer (Peer::all: to each of its
// peers). `hops` is the number of messages on the critical path whose latencies add up: equal to `repeat` where each
// round waits for the one before, smaller where chunks follow one another down a chain. A `listed` phase has its
// critical path counted apart: `hops` messages inside nodes and `hops_across` between them.
struct Phase {
    Peer peer = Peer::shift;
    std::uint32_t distance = 1;
    std::uint32_t span = 0;  // of `exchange` and `shift_in_span`; 0 elsewhere
    // Of `exchange`: blocks of `distance` members change hands, of which those below this stand for one beyond the span
    // besides themselves. `fraction` is of a block of none of these.
    std::uint32_t doubled = 0;
    double fraction = 1.0;
    std::uint32_t repeat = 1;
    std::uint32_t hops = 1;
    std::uint32_t hops_across = 0;  // of `listed`
    double duty = 1.0;  // share of the rounds in which a sender sends: below 1 where a chain fills and drains
    bool reduce = false;
    std::vector<Edge> edges{};  // of `listed`
    // Of a message that protocols cut into loops (ProtocolCost::chunk): every channel takes a chunk for each of `heads`
    // at a time, in stages, of which the last begins `fill` loops after the first. Chunks are 1/`finer` as long.
    std::uint32_t heads = 0;
    std::uint32_t fill = 0;
    std::uint32_t finer = 1;

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

// The numbering of members that an algorithm is laid on (see ChannelPlanner).
enum class Order : std::uint8_t {
    rings,  // neighbours in the order are neighbours on the links; every second node is passed backwards
    trees,  // the same inside every node; the first member of each node is the one by its NIC
    given,  // the caller's
};

// What an algorithm asks of the machine besides links.
enum class Needs : std::uint8_t { nothing, reducing_switch };

// For n >= 2 members the full message (nccl-tests convention: the larger of send and receive buffer) has `chunks`
// pieces. The root of a broadcast, and the sender of a point_to_point, is member 0; the root of a reduce is the last.
// An algorithm that needs a reducing switch has the switch copy and add: its phases move less than its transfers.
struct Algorithm {
    std::string_view name;  // "ring", "halving_doubling", "direct"
    Collective op;
    std::uint32_t (*chunks)(const GroupShape& shape) = [](const GroupShape& shape) { return shape.members; };
    std::vector<Phase> (*phases)(const GroupShape& shape);
    std::vector<Transfer> (*transfers)(const GroupShape& shape);  // by round
    bool (*runs)(const GroupShape& shape) = [](const GroupShape&) { return true; };
    Order order = Order::rings;
    Needs needs = Needs::nothing;
};

inline std::uint32_t one_chunk(const GroupShape&) { return 1; }
inline bool is_in_one_node(const GroupShape& shape) { return shape.nodes == 1; }

// The peer of member i in a phase among n, or n if i does not send. Not defined for Peer::all and Peer::listed
// (LogicError).
std::uint32_t peer_of(const Phase& phase, std::uint32_t i, std::uint32_t n);

// What member i, which sends, moves in a round to its peer, of the phase's fraction: 1 but where members are doubled.
double weight_of(const Phase& phase, std::uint32_t i);

// For algorithms that write their transfers round by round: the number of rounds so far.
inline std::uint32_t rounds_of(const std::vector<Transfer>& transfers) {
    return transfers.empty() ? 0 : transfers.back().round + 1;
}
// Every sender of the phase sends all of the message.
void append_whole_messages(std::vector<Transfer>& transfers, std::uint32_t round, const Phase& phase, std::uint32_t n,
                           std::uint32_t chunks);
// Of all phases, a round each, in one chunk.
std::vector<Transfer> whole_messages(const std::vector<Phase>& phases, std::uint32_t n);

const Algorithm* find_algorithm(Collective op, std::string_view name);  // null if there is none

namespace collective {
std::span<const Algorithm* const> all();  // every registered algorithm, sorted by file
}

// Calls visit(from, to, weight) for every message of a round among n members, by sender where they are not listed:
// member `from` sends `weight` of the phase's fraction to member `to`.
template <class Visit>
void for_each_message(const Phase& phase, std::uint32_t n, Visit visit) {
    switch (phase.peer) {
        case Peer::listed:
            for (const Edge& edge : phase.edges) visit(edge.from, edge.to, edge.weight);
            return;
        case Peer::all:
            for (std::uint32_t i = 0; i < n; ++i) {
                for (std::uint32_t j = 0; j < n; ++j) {
                    if (j != i) visit(i, j, 1.0);
                }
            }
            return;
        default:
            for (std::uint32_t i = 0; i < n; ++i) {
                if (const std::uint32_t peer = peer_of(phase, i, n); peer < n) visit(i, peer, weight_of(phase, i));
            }
    }
}

}  // namespace weft
