// Equal groups of ranks that run one collective at the same time, laid on a machine as a benchmark lays them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "sim/network/link_traffic.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"

namespace weft {

// Rank r sits on accelerator r mod ranks_per_node of node r / ranks_per_node.
struct SetLayout {
    std::uint32_t ranks = 1;             // of all groups together
    std::uint32_t ranks_per_node = 1;    // at most the accelerators of a node
    std::uint32_t groups = 1;            // divides `ranks`: place p is in group p mod groups
    std::vector<std::uint32_t> order{};  // the rank at each place, which no library reorders; empty: rank p, reordered
    std::uint32_t channels = 0;          // 0: as many as the library finds

    std::uint32_t nodes() const { return (ranks - 1) / ranks_per_node + 1; }
    std::uint32_t members() const { return ranks / groups; }
};

// Smallest of cap and bandwidth / load: the rate of one flow on the pattern when nothing else is under way.
BytesPerSecond idle_rate(const Pattern& pattern, const Topology& topology);

class CollectiveSet {
  public:
    // `topology` has layout.nodes() nodes; it and `library` must outlive this.
    CollectiveSet(const Topology& topology, const Library& library, SetLayout layout);
    CollectiveSet(const CollectiveSet&) = delete;  // costs_ calls back
    CollectiveSet& operator=(const CollectiveSet&) = delete;

    GroupCosts& costs() { return costs_; }
    const GroupCosts& costs() const { return costs_; }
    const SetLayout& layout() const { return layout_; }
    std::vector<Communicator> communicators(Order order);

    // From the start of the call to its end, with all groups under way: the sum over phases of the latency and of the
    // bytes at the rate that their patterns together leave. What the engine gives for a program of this one exchange.
    Seconds time(const Choice& choice, Bytes message);

    struct ClassUse {
        LinkClassId link_class{};
        double utilization = 0.0;  // bytes carried / (bandwidth x time) of the busiest link of the class
    };
    std::vector<ClassUse> utilization(const Choice& choice, Bytes message);  // of classes that carry anything

    // What each link carries in a call, and the call's time as time() has it.
    LinkTraffic traffic(const Choice& choice, Bytes message);

    std::uint32_t channels(const Choice& choice) { return costs_.channels(choice); }

  private:
    struct Load {
        std::vector<BytesPerSecond> rates;  // of each phase
        Table<LinkClassId, double> busy;    // seconds per byte of message, of the busiest link
    };
    const Load& load(const Choice& choice);
    Table<LinkId, Bytes> carried(const Choice& choice, Bytes message);
    Load make_load(const Choice& choice);
    GroupShape shape() const;
    std::vector<RankId> members(std::uint32_t group) const;
    Communicator with_channels(Communicator communicator) const;

    const Topology& topology_;
    SetLayout layout_;
    ChannelPlanner planner_;
    GroupCosts costs_;
    std::map<Choice, Load> loads_;
};

}  // namespace weft
