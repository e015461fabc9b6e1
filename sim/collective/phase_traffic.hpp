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

// Loads of links, and which links have one. Links come in pages, of which those in use are kept: most groups touch few
// of a large machine's links. In units of 2^-40, so that a sum does not depend on the order of its terms and links that
// carry the same are equal to the bit.
class LinkLoads {
  public:
    using Units = std::int64_t;
    static Units units(double load) { return std::llround(load * unit); }

    void add(LinkId link, Units load) {
        Units& cell = (*pages_[find_or_add(index(link) / page_size)].cells)[index(link) % page_size];
        if (cell == 0) used_.push_back(link);
        cell += load;
    }
    void add(const LinkLoads& other) {
        for (const LinkId link : other.used_) add(link, other.units_of(link));
    }
    double operator[](LinkId link) const { return static_cast<double>(units_of(link)) / unit; }
    const std::vector<LinkId>& used() const { return used_; }
    void clear();

  private:
    static constexpr double unit = 1099511627776.0;
    static constexpr std::size_t page_size = 128;
    using Cells = std::array<Units, page_size>;
    struct Page {
        std::size_t number = 0;
        std::unique_ptr<Cells> cells;
    };

    std::size_t slot_of(std::size_t number) const {
        return (number * 0x9e3779b97f4a7c15U >> 32U) & (slots_.size() - 1);
    }
    const Page* find(std::size_t number) const;
    std::size_t find_or_add(std::size_t number);
    void rehash();
    Units units_of(LinkId link) const {
        const Page* const page = find(index(link) / page_size);
        return page != nullptr ? (*page->cells)[index(link) % page_size] : 0;
    }

    std::vector<Page> pages_;
    std::vector<std::uint32_t> slots_;  // open addressing, a power of two: 1 + place in pages_, or 0
    std::size_t last_ = 0;              // page added to last: routes of neighbours share most of theirs
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
    // Of each message the share `detoured` takes detours.
    Pattern pattern(double detoured);
    Pattern pattern() { return pattern(detoured()); }
    // The share of detours that the traffic settles on where the fabric routes adaptively: the smallest that makes the
    // busiest link least busy, one for all messages of the phase.
    double detoured();

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
        void add(const Traffic& other);
        void clear();
        bool is_empty() const;
    };
    struct Message {
        Seconds latency;
        bool across = false;
    };

    bool channels_are_alike(const Phase& phase, const Communicator& communicator) const;
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
    LinkLoads::Units alike_ = 1;     // channels that it stands for
    BytesPerSecond alone_{std::numeric_limits<double>::infinity()};
    BytesPerSecond cap_{std::numeric_limits<double>::infinity()};
    std::optional<double> lone_share_;  // of detours, while sum_ is of one communicator
    double duty_ = 1.0;
    Seconds latency_;
};

}  // namespace weft
