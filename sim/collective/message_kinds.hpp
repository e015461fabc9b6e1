// Messages of a phase in kinds: those of a kind pass the links of their nodes alike, and as many tiers of switches.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "sim/base/hash_sum.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Where a rank sits.
struct Seat {
    std::uint32_t node = 0, local = 0;
    std::uint32_t leaf = 0;  // the switch of the node's first NIC, counted along the nodes
};

// Messages of one size load links alike.
struct MessageSize {
    double share = 1.0;  // of the unit of flow
    std::uint32_t turn = 0, detours = 0;
    bool across = false;  // nodes
    bool operator==(const MessageSize&) const = default;
};

struct MessageKind {
    std::uint32_t channel = 0, from = 0, to = 0;  // ranks, inside their nodes
    std::uint32_t leave = 0, enter = 0;           // NICs
    std::uint32_t size = 0;

    bool operator==(const MessageKind&) const = default;
};

class MessageKinds {
  public:
    // Which has a fabric().
    explicit MessageKinds(const Topology& topology) : topology_(topology), tree_(*topology.fabric()) {}

    Seat seat(RankId rank) const {
        const std::uint32_t node = topology_.node_of(rank);
        return {.node = node,
                .local = static_cast<std::uint32_t>(rank) - node * topology_.ranks_per_node,
                .leaf = node / tree_.nodes_per_switch()};
    }
    RankId rank(std::uint32_t node, std::uint32_t local) const {
        return RankId(node * topology_.ranks_per_node + local);
    }
    // The number of the kind of a message.
    std::uint32_t of(std::uint32_t channel, const Seat& from, const Seat& to, double share) {
        const Path path = from.node == to.node ? Path::inside : from.leaf == to.leaf ? Path::on_leaf : Path::apart;
        if (path == last_.path && channel == last_.channel && from.local == last_.from && to.local == last_.to &&
            share == last_.share) {
            return last_.kind;
        }
        return look_up(path, channel, from, to, share);
    }

    // The same of a message of a kind that is between these ranks after it was moved inside its nodes. It climbs so.
    std::uint32_t moved(std::uint32_t kind, std::uint32_t by, RankId from, RankId to, const Climb& climb) {
        const Moved moved{kind, by, climb, detours(from, to)};
        if (moved != last_moved_) last_moved_kind_ = look_up_moved(moved);
        last_moved_ = moved;
        return last_moved_kind_;
    }
    // That the routing gives a message to another node.
    std::uint32_t detours(RankId from, RankId to) const {
        return topology_.routing == Routing::minimal ? 0 : topology_.router->detours(from, to);
    }

    std::uint32_t size() const { return static_cast<std::uint32_t>(kinds_.size()); }
    const MessageKind& operator[](std::uint32_t kind) const { return kinds_[kind]; }
    const MessageSize& size_of(std::uint32_t kind) const { return sizes_[kinds_[kind].size]; }
    const std::vector<MessageSize>& sizes() const { return sizes_; }
    // Whether messages of the kind pass switches above the first, or do so in groups moved inside their nodes.
    bool may_climb(std::uint32_t kind) const { return may_climb_[kind] != 0; }
    // What a message of the kind is to the node that it leaves, and to that which it enters; inside a node, that is
    // the first alone.
    const HashSum& leaving(std::uint32_t kind) const { return leaving_[kind]; }
    const HashSum& entering(std::uint32_t kind) const { return entering_[kind]; }
    std::uint64_t hash_of_size(std::uint32_t size) const { return size_hashes_[size]; }

  private:
    enum class Path : std::uint8_t { inside, on_leaf, apart };
    std::uint32_t look_up(Path path, std::uint32_t channel, const Seat& from, const Seat& to, double share);
    // All that a kind moved inside its nodes follows from.
    struct Moved {
        std::uint32_t first = std::numeric_limits<std::uint32_t>::max(), by = 0;
        Climb climb{};
        std::uint32_t detours = 0;
        bool operator==(const Moved&) const = default;
    };
    std::uint32_t look_up_moved(const Moved& moved);
    std::uint32_t number(MessageKind kind, double share, const Climb& climb, std::uint32_t detours);
    std::uint32_t number(const MessageKind& kind);
    std::uint32_t size_number(const MessageSize& size);
    void add(const MessageKind& kind);

    const Topology& topology_;
    const RouteTree& tree_;
    std::vector<MessageSize> sizes_;
    std::vector<std::uint64_t> size_hashes_;
    std::vector<MessageKind> kinds_;
    std::vector<HashSum> leaving_, entering_;
    std::vector<std::uint8_t> may_climb_;  // by kind
    struct Hash {
        std::size_t operator()(const MessageKind& kind) const;
    };
    std::unordered_map<MessageKind, std::uint32_t, Hash> numbers_;  // only looked up
    // Messages are mostly like those before.
    struct Last {
        std::uint32_t channel = 0, from = 0, to = 0;
        double share = std::numeric_limits<double>::quiet_NaN();
        Path path{};
        std::uint32_t kind = 0;
    };
    Moved last_moved_;
    std::uint32_t last_moved_kind_ = 0;
    Last last_;        // only messages whose NICs and turn follow from their path and places in the nodes
    Last last_apart_;  // of its turn
};

}  // namespace weft
