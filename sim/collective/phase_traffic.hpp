// The traffic that one phase of an algorithm puts on links, and the latencies on its critical path.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/library.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// Loads of links, and which links have one. Pages of cells are made when they are first used, since most groups touch
// few of a large machine's links. In units of 2^-40, so that a sum does not depend on the order of its terms and links
// that carry the same are equal to the bit.
class LinkLoads {
  public:
    using Units = std::int64_t;
    static Units units(double load) { return std::llround(load * unit); }

    explicit LinkLoads(const Topology& topology) : pages_(topology.tail.size() / page_size + 1) {}

    void add(LinkId link, Units load) {
        std::unique_ptr<Page>& page = pages_[index(link) / page_size];
        if (!page) page = std::make_unique<Page>();
        Units& cell = (*page)[index(link) % page_size];
        if (cell == 0) used_.push_back(link);
        cell += load;
    }
    void add(const LinkLoads& other) {
        for (const LinkId link : other.used_) add(link, other.units_of(link));
    }
    double operator[](LinkId link) const { return static_cast<double>(units_of(link)) / unit; }
    const std::vector<LinkId>& used() const { return used_; }
    void clear();

    // Links page_size * i to page_size * (i + 1) - 1 are page i; those of a page without cells have no load.
    static constexpr std::size_t page_size = 256;
    std::size_t pages() const { return pages_.size(); }
    bool has_cells(std::size_t page) const { return pages_[page] != nullptr; }

  private:
    static constexpr double unit = 1099511627776.0;
    using Page = std::array<Units, page_size>;

    Units units_of(LinkId link) const {
        const std::unique_ptr<Page>& page = pages_[index(link) / page_size];
        return page ? (*page)[index(link) % page_size] : 0;
    }

    std::vector<std::unique_ptr<Page>> pages_;
    std::vector<LinkId> used_;
};

// Accumulates the loads of one phase over any number of communicators that run it in lock step (all the equal groups
// of a program, say), and the latency of the slowest.
class PhaseTraffic {
  public:
    PhaseTraffic(const Topology& topology, const ProtocolCost& protocol);

    // The unit of flow is one byte from each sender to each of its peers, split over the channels: each message loads
    // its links with 1 / channels / efficiency. Channel c takes the routes of salt c. All communicators of one
    // PhaseTraffic run the same phase. Groups of one add nothing.
    void add(const Phase& phase, const Communicator& communicator);

    // Loads sorted by link. `alone`: of the slowest communicator, its own messages sharing links. `cap`: the protocol's
    // rate, and for a phase with duty < 1 that share of the rate that an idle network gives.
    // Where the fabric routes adaptively, the share of each message that takes detours is the smallest that makes the
    // busiest link least busy (one share for the phase).
    Pattern pattern();

    // Of the slowest channel: messages that follow one another (shift, chain) along the worst `hops` in a row, round
    // the ring as often as need be; for listed edges `hops` times the slowest message in a node and `hops_across` times
    // the slowest between nodes; otherwise `hops` times the slowest message, and for Peer::all the posting of all
    // messages of a member before. A message takes the protocol's step and the latencies of its links.
    Seconds latency() const { return latency_; }

  private:
    // A message that has detours, and what it loads each with.
    struct Divertible {
        RankId from{}, to{};
        std::uint32_t channel = 0, detours = 0;
        LinkLoads::Units part = 0;
    };
    // What messages load: by minimal routes; for those that have detours both ways are kept apart. Detours are routed
    // only where they might help: `undecided` are the messages whose detours are not in `detour`.
    struct Traffic {
        LinkLoads fixed, minimal, detour;
        std::vector<Divertible> undecided;
        explicit Traffic(const Topology& topology) : fixed(topology), minimal(topology), detour(topology) {}
        void add(const Traffic& other);
        void clear();
        bool is_empty() const;
    };
    struct Message {
        Seconds latency;
        bool across = false;
    };

    Message add_message(RankId from, RankId to, std::uint64_t channel, double share, Ports ports);
    Seconds posting(std::span<const RankId> order) const;
    void add_channel(const Phase& phase, const Communicator& communicator, std::size_t channel);
    bool is_of_network(LinkId link) const;
    bool may_gain(const Traffic& traffic) const;
    void route_detours(Traffic& traffic) const;
    double detoured(Traffic& traffic) const;
    BytesPerSecond rate(const Traffic& traffic, double detoured) const;
    std::vector<LinkLoad> loads(const Traffic& traffic, double detoured) const;

    const Topology& topology_;
    const ProtocolCost& protocol_;
    Traffic own_, sum_;              // of the communicator being added, and of all
    std::vector<Message> messages_;  // of the channel being added
    BytesPerSecond alone_{std::numeric_limits<double>::infinity()};
    BytesPerSecond cap_{std::numeric_limits<double>::infinity()};
    std::optional<double> lone_share_;  // of detours, while sum_ is of one communicator
    double duty_ = 1.0;
    Seconds latency_;
};

}  // namespace weft
