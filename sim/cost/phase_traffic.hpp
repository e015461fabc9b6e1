// The traffic that one phase of an algorithm puts on links, and the latencies on its critical path.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/cost/busiest_links.hpp"
#include "sim/cost/communicator.hpp"
#include "sim/cost/library.hpp"
#include "sim/cost/link_loads.hpp"
#include "sim/network/network_model.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// The latencies that add up from the first message of a phase to its last.
struct MessageLatency {
    Seconds value;  // the protocol's step and the latencies of the links
    bool across = false;
    bool operator==(const MessageLatency&) const = default;
};

// Of the messages of a round, in the order of for_each_message; none: zero. Messages that follow one another (shift,
// chain) add up along the worst `hops` in a row, round the ring as often as need be; for listed edges `hops` times the
// slowest message in a node and `hops_across` times the slowest between nodes; otherwise `hops` times the slowest.
Seconds phase_latency(const Phase& phase, std::span<const MessageLatency> messages);

// Until a member of a group has posted a message to every other one: the longest of all members.
Seconds posting(const Topology& topology, const ProtocolCost& protocol, std::span<const RankId> members);

// Accumulates the loads of one phase over any number of communicators that run it in lock step (all the equal groups
// of a program, say), and the latency of the slowest.
class PhaseTraffic {
  public:
    // `router`: of the topology, its own or the one around slow links.
    PhaseTraffic(const Topology& topology, const ProtocolCost& protocol, const Router& router);
    PhaseTraffic(const Topology& topology, const ProtocolCost& protocol)
        : PhaseTraffic(topology, protocol, *topology.router) {}

    // The unit of flow is one byte from each sender to each of its peers, split over the channels: each message loads
    // its links with 1 / channels, and those of endpoints with as much more as load_of() says. Channel c takes the
    // routes of salt c. All communicators of one PhaseTraffic run the same phase. Groups of one add nothing.
    void add(const Phase& phase, const Communicator& communicator);

    // Of each message the share `detoured` takes detours.
    Pattern pattern(double detoured);
    Pattern pattern() { return pattern(detoured()); }
    // The share of detours that the traffic settles on where the fabric routes adaptively: the smallest that makes the
    // busiest link least busy, one for all messages of the phase.
    double detoured();

    // Of the slowest channel: its critical path, and for Peer::all the posting of all messages of a member before.
    Seconds latency() const { return latency_; }
    // On such a path, ProtocolCost::post_channel of each message between nodes.
    Seconds posts() const { return posts_; }

  private:
    // What a message puts on the links of a route.
    struct Part {
        LinkLoads::Units at_ends = 0, between_switches = 0;
        LinkLoads::Units on(bool joins_switches) const { return joins_switches ? between_switches : at_ends; }
    };
    // A message that has detours, and what it loads each with.
    struct Divertible {
        RankId from{}, to{};
        std::uint32_t channel = 0;
        Part part{};
    };
    // A complete exchange whose detours are not among the loads.
    struct DivertibleExchange {
        std::span<const RankId> ranks{};
        std::uint64_t channel = 0;
        double share = 0.0;  // of one message
        MessageLoad load{};
    };
    // What messages load. Detours are routed only where they might help: `undecided` are the messages, and
    // `exchanges` what was counted, whose detours are not among the loads.
    struct Traffic {
        LinkLoads loads;
        bool has_detours = false;  // in loads
        std::vector<Divertible> undecided;
        std::vector<DivertibleExchange> exchanges;
        bool is_undecided() const { return !undecided.empty() || !exchanges.empty(); }

        void add(const Traffic& other) {
            loads.add(other.loads);
            has_detours |= other.has_detours;
            undecided.insert(undecided.end(), other.undecided.begin(), other.undecided.end());
            exchanges.insert(exchanges.end(), other.exchanges.begin(), other.exchanges.end());
        }
        void add_moved(const Traffic& other, const LinkMove& move) {
            loads.add_moved(other.loads, move);
            has_detours |= other.has_detours;
            for (const auto& [from, to, channel, part] : other.undecided)
                undecided.push_back({move(from), move(to), channel, part});
        }
        void clear() {
            loads.clear();
            has_detours = false;
            undecided.clear();
            exchanges.clear();
        }
    };

    bool channels_are_equal(const Phase& phase, const Communicator& communicator) const;
    Part part(const MessageLoad& load, double share) const;
    MessageLatency add_message(RankId from, RankId to, std::uint64_t channel, double share, Ports ports);
    void add_channel(const Phase& phase, const Communicator& communicator, std::size_t channel);
    class Counting;
    bool count_exchange(const Communicator& communicator);
    void count_detours(Traffic& traffic, const DivertibleExchange& exchange);
    void add_messages(const Phase& phase, const Communicator& communicator);
    void route_detours(Traffic& traffic);
    BusiestLinks::Settled settle(Traffic& traffic);

    const Topology& topology_;
    const ProtocolCost& protocol_;
    const Router& router_;
    Traffic own_, sum_;                     // of the communicator being added, and of all
    BusiestLinks busiest_;                  // of the traffic being settled
    std::vector<MessageLatency> messages_;  // of the communicator being added
    std::vector<LinkTimes> links_;          // of the detours being routed
    LinkLoads::Units equal_channels_ = 1;   // that each one stands for
    BytesPerSecond alone_{std::numeric_limits<double>::infinity()};
    BytesPerSecond cap_{std::numeric_limits<double>::infinity()};
    std::optional<double> lone_share_;  // of detours, while sum_ is of one communicator
    double duty_ = 1.0;
    Seconds latency_, posts_;
};

}  // namespace weft
