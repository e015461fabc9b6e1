// Equal groups of ranks that run one collective at the same time, laid on a machine as a benchmark lays them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
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
inline BytesPerSecond idle_rate(const Pattern& pattern, const Topology& topology) {
    BytesPerSecond rate = pattern.cap;
    for (const LinkLoad& load : pattern.loads) rate = std::min(rate, topology.link(load.link).bandwidth / load.load);
    return rate;
}

class CollectiveSet {
  public:
    // `topology` has layout.nodes() nodes; it and `library` must outlive this.
    CollectiveSet(const Topology& topology, const Library& library, SetLayout layout)
        : topology_(topology),
          layout_(std::move(layout)),
          planner_(topology, first_accelerators(layout_)),
          costs_(topology, library, shape(), [this](Order order) { return communicators(order); }) {}
    CollectiveSet(const CollectiveSet&) = delete;  // costs_ calls back
    CollectiveSet& operator=(const CollectiveSet&) = delete;

    GroupCosts& costs() { return costs_; }
    const GroupCosts& costs() const { return costs_; }
    const SetLayout& layout() const { return layout_; }

    std::vector<Communicator> communicators(Order order) {
        std::vector<Communicator> communicators;
        const Order laid = layout_.order.empty() ? order : Order::given;
        for (std::uint32_t group = 0; group < layout_.groups; ++group) {
            communicators.push_back(with_channels(planner_.lay(members(group), laid)));
        }
        return communicators;
    }

    // From the start of the call to its end, with all groups under way: the sum over phases of the latency and of the
    // bytes at the rate that their patterns together leave. What the engine gives for a program of this one exchange.
    Seconds time(const Choice& choice, Bytes message) {
        const std::vector<PhaseCost>& phases = costs_.phases(choice);
        const Load& together = load(choice);
        Seconds sum;
        for (std::size_t i = 0; i < phases.size(); ++i) {
            sum += phases[i].latency(message);
            if (!is_unlimited(phases[i].pattern)) sum += phases[i].bytes(message) / together.rates[i];
        }
        return sum;
    }

    struct ClassUse {
        LinkClassId link_class{};
        double utilization = 0.0;  // bytes carried / (bandwidth x time) of the busiest link of the class
    };

    // Of the classes that carry anything.
    std::vector<ClassUse> utilization(const Choice& choice, Bytes message) {
        const double seconds = time(choice, message).value;
        const Table<LinkClassId, double>& busy = load(choice).busy;
        std::vector<ClassUse> uses;
        for (LinkClassId id{}; id != busy.end_id(); id = next(id)) {
            if (busy[id] > 0.0 && seconds > 0.0) uses.push_back({id, busy[id] * message.value / seconds});
        }
        return uses;
    }

    // What each link carries in a call, and the call's time as time() has it.
    LinkTraffic traffic(const Choice& choice, Bytes message) {
        return {.bytes = carried(choice, message), .time = time(choice, message)};
    }

    std::uint32_t channels(const Choice& choice) { return costs_.channels(choice); }

  private:
    static std::vector<std::uint32_t> first_accelerators(const SetLayout& layout) {
        return numbers_below<std::uint32_t>(std::min(layout.ranks_per_node, layout.ranks));
    }
    // Whether the members of each node stand in one run.
    bool in_runs(const std::vector<RankId>& members) const {
        auto nodes = list_of<std::uint32_t>(members, [&](RankId rank) { return topology_.node_of(rank); });
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
        std::sort(nodes.begin(), nodes.end());
        return std::adjacent_find(nodes.begin(), nodes.end()) == nodes.end();
    }

    struct Load {
        std::vector<BytesPerSecond> rates;  // of each phase
        Table<LinkClassId, double> busy;    // seconds per byte of message, of the busiest link
    };
    const Load& load(const Choice& choice) {
        const auto [it, fresh] = loads_.try_emplace(choice);
        if (fresh) it->second = make_load(choice);
        return it->second;
    }

    Table<LinkId, Bytes> carried(const Choice& choice, Bytes message) {
        Table<LinkId, Bytes> carried(topology_.links());
        for (const PhaseCost& phase : costs_.phases(choice)) {
            const Bytes bytes = phase.bytes(message);
            for (const LinkLoad& each : phase.pattern.loads) carried[each.link] += bytes * each.load;
        }
        return carried;
    }

    Load make_load(const Choice& choice) {
        Load load{.rates = {}, .busy = Table<LinkClassId, double>(topology_.classes.size(), 0.0)};
        for (const PhaseCost& phase : costs_.phases(choice)) load.rates.push_back(idle_rate(phase.pattern, topology_));
        const Table<LinkId, Bytes> per_byte = carried(choice, Bytes{1.0});
        for (LinkId link{}; link != per_byte.end_id(); link = next(link)) {
            if (per_byte[link] == Bytes{}) continue;
            double& busy = load.busy[topology_.link_class(link)];
            busy = std::max(busy, (per_byte[link] / topology_.link(link).bandwidth).value);
        }
        return load;
    }

    GroupShape shape() const {
        const bool laid_out = layout_.ranks >= 1 && layout_.groups >= 1 && layout_.ranks % layout_.groups == 0 &&
                              layout_.ranks_per_node >= 1 && layout_.ranks_per_node <= topology_.ranks_per_node &&
                              layout_.nodes() * topology_.ranks_per_node <= topology_.ranks &&
                              (layout_.order.empty() || layout_.order.size() == layout_.ranks);
        WEFT_CHECK(laid_out, "ranks that fill equal groups, on the nodes of the topology");
        const GroupShape first = shape_of(topology_, members(0));
        GroupShape shape = first;
        for (std::uint32_t group = 0; group < layout_.groups; ++group) {
            if (group == 0 && layout_.order.empty()) continue;
            const std::vector<RankId> ranks = members(group);
            const GroupShape other = shape_of(topology_, ranks);
            // Groups that share a program but not a shape (12 ranks of 8 per node, say) have no blocks in common.
            shape.nodes = std::max(shape.nodes, other.nodes);
            shape.even = shape.even && other == first && (layout_.order.empty() || in_runs(ranks));
            if (other != first || !layout_.order.empty()) shape.before_last = 0;
        }
        return shape;
    }

    std::vector<RankId> members(std::uint32_t group) const {
        std::vector<RankId> members;
        members.reserve(layout_.members());
        for (std::uint32_t place = group; place < layout_.ranks; place += layout_.groups) {
            const std::uint32_t rank = layout_.order.empty() ? place : layout_.order[place];
            members.push_back(
                RankId(rank / layout_.ranks_per_node * topology_.ranks_per_node + rank % layout_.ranks_per_node));
        }
        return members;
    }

    Communicator with_channels(Communicator communicator) const {
        if (layout_.channels == 0 || communicator.channels.empty()) return communicator;
        const std::size_t found = communicator.channels.size();
        for (std::size_t c = found; c < layout_.channels; ++c) {
            communicator.channels.push_back(communicator.channels[c % found]);
        }
        communicator.channels.resize(layout_.channels);
        return communicator;
    }

    const Topology& topology_;
    SetLayout layout_;
    ChannelPlanner planner_;
    GroupCosts costs_;
    std::map<Choice, Load> loads_;
};

}  // namespace weft
