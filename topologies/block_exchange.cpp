// A complete exchange on a machine built of blocks: what each rank sends leaves its node, and what it receives enters
// it, whomever it comes from; the network between counts what goes from leaf to leaf.
#include <algorithm>
#include <map>
#include <utility>

#include "topologies/block_router.hpp"

namespace weft {

namespace {

// The ranks of an exchange on one node, by their accelerators, and how many receive by each NIC.
struct NodeRanks {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> locals;
    std::vector<std::uint32_t> receivers;
};

// Adds the latency of ports and of the ways inside nodes to that of the network.
class WithEnds final : public ExchangeSink {
  public:
    WithEnds(ExchangeSink& sink, const Numbering& numbering, Seconds ends)
        : sink_(sink), numbering_(numbering), ends_(ends) {}
    void add(LinkId link, ExchangeWay way, double messages, std::uint32_t parts) override {
        sink_.add(numbering_.network_link(link), way, messages, parts);
    }
    void reach(ExchangeWay way, Seconds latency) override { sink_.reach(way, latency + ends_); }

  private:
    ExchangeSink& sink_;
    const Numbering& numbering_;
    Seconds ends_;
};

// Of the links of a network, by number.
class LinkLatencies {
  public:
    LinkLatencies(const Network& network, const Table<LinkClassId, LinkClass>& classes) {
        for (const LinkRun& run : network.links()) {
            end_ += run.links;
            runs_.emplace_back(end_, classes[run.link_class].latency);
        }
    }
    Seconds of(const Route& route) const {
        Seconds sum;
        for (const LinkId link : route.links()) {
            std::size_t run = 0;
            while (runs_[run].first <= index(link)) ++run;
            sum += runs_[run].second;
        }
        return sum;
    }

  private:
    std::vector<std::pair<std::size_t, Seconds>> runs_;  // where each ends
    std::size_t end_ = 0;
};

}  // namespace

bool Network::add_exchange_by_leaf(std::span<const PortUse> ports, std::uint64_t salt, Router::Ways ways,
                                   const Table<LinkClassId, LinkClass>& classes, ExchangeSink& sink) const {
    struct Leaf {
        Port port{};
        double senders = 0;
    };
    std::map<std::uint32_t, Leaf> leaves;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> of_node;  // senders by leaf and node
    for (const PortUse& use : ports) {
        Leaf& there = leaves.try_emplace(leaf(use.port), Leaf{use.port}).first->second;
        there.senders += use.senders;
        of_node[{leaf(use.port), use.port.node}] += use.senders;
    }
    const LinkLatencies latencies(*this, classes);
    const auto add = [&](const Route& route, ExchangeWay way, double messages, std::uint32_t parts) {
        for (const LinkId link : route.links()) sink.add(link, way, messages, parts);
        sink.reach(way, latencies.of(route));
    };
    for (const PortUse& to : ports) {
        if (to.receivers == 0) continue;
        for (const auto& [number, from] : leaves) {
            const auto own = of_node.find({number, to.port.node});
            const double senders = from.senders - (own == of_node.end() ? 0.0 : own->second);
            if (senders <= 0) continue;
            const std::uint32_t count = detours(from.port, to.port);
            if (ways == Router::Ways::straight) {
                add(route(from.port, to.port, salt), count > 0 ? ExchangeWay::minimal : ExchangeWay::only,
                    senders * to.receivers, 1);
                continue;
            }
            for (std::uint32_t i = 0; i < count; ++i)
                add(detour(from.port, to.port, salt, i), ExchangeWay::detour, senders * to.receivers, count);
        }
    }
    return true;
}

void BlockRouter::add_node(ExchangeSink& sink, ExchangeWay way, std::uint32_t node, std::uint32_t from,
                           std::uint32_t to, double messages) const {
    for (const LinkId link : routes_.route(from, to).links()) sink.add(numbering_.link(node, link), way, messages);
}

Seconds BlockRouter::latency_inside(std::uint32_t from, std::uint32_t to) const {
    Seconds sum;
    for (const LinkId link : routes_.route(from, to).links()) sum += classes_[node_classes_[index(link)]].latency;
    return sum;
}

bool BlockRouter::add_exchange(std::span<const RankId> ranks, std::uint64_t salt, Ways ways, ExchangeSink& sink) const {
    std::vector<RankId> sorted(ranks.begin(), ranks.end());
    std::ranges::sort(sorted);
    std::vector<NodeRanks> nodes;
    std::vector<std::uint32_t> all(numbering_.nics);  // receivers by NIC number
    for (const RankId rank : sorted) {
        if (nodes.empty() || nodes.back().node != node(rank))
            nodes.push_back({node(rank), {}, std::vector<std::uint32_t>(numbering_.nics)});
        nodes.back().locals.push_back(local(rank));
        ++nodes.back().receivers[port(rank).nic];
        ++all[port(rank).nic];
    }
    // By rails, where the receiver chooses the NIC that a message leaves by; else by all ports at once.
    const bool by_rail = pxn_ == Pxn::on;
    std::vector<std::vector<PortUse>> uses(by_rail ? numbering_.nics : 1);
    for (const NodeRanks& here : nodes) {
        for (std::uint32_t nic = 0; nic < numbering_.nics; ++nic) {
            const auto size = static_cast<std::uint32_t>(here.locals.size());
            const std::uint32_t receivers = here.receivers[nic], senders = by_rail ? size : receivers;
            if (senders > 0) uses[by_rail ? nic : 0].push_back({{here.node, nic}, senders, receivers});
        }
    }
    const Seconds cable = classes_[network_->port_class()].latency;
    const double total = static_cast<double>(ranks.size());
    if (nodes.size() > 1) {
        for (const std::vector<PortUse>& rail : uses) {
            Seconds rail_out, rail_in;  // the longest ways inside nodes
            for (const NodeRanks& here : nodes) {
                for (const std::uint32_t local : here.locals) {
                    const std::uint32_t own = routes_.nic_of(local);
                    const std::uint32_t nic = by_rail ? static_cast<std::uint32_t>(&rail - uses.data()) : own;
                    if (by_rail && all[nic] == 0) continue;
                    rail_out = std::max(rail_out, latency_inside(local, numbering_.accelerators + nic));
                    if (own == nic) rail_in = std::max(rail_in, latency_inside(numbering_.accelerators + nic, local));
                }
            }
            WithEnds network(sink, numbering_, rail_out + rail_in + 2.0 * cable);
            if (!network_->add_exchange(rail, salt, ways, classes_, network)) return false;
        }
    }
    if (ways == Ways::detours) return true;
    for (const NodeRanks& here : nodes) {
        const double far = total - static_cast<double>(here.locals.size());
        for (const std::uint32_t from : here.locals) {
            for (const std::uint32_t to : here.locals) {
                if (from == to) continue;
                add_node(sink, ExchangeWay::inside, here.node, from, to, 1.0);
                sink.reach(ExchangeWay::inside, latency_inside(from, to));
            }
            if (far == 0.0) continue;
            const std::uint32_t own = routes_.nic_of(from);
            const auto leave = [&](std::uint32_t nic, double messages) {
                if (messages == 0.0) return;
                add_node(sink, ExchangeWay::only, here.node, from, numbering_.accelerators + nic, messages);
                sink.add(numbering_.up({here.node, nic}), ExchangeWay::only, messages);
            };
            for (std::uint32_t nic = 0; by_rail && nic < numbering_.nics; ++nic)
                leave(nic, all[nic] - here.receivers[nic]);
            if (!by_rail) leave(own, far);
            add_node(sink, ExchangeWay::only, here.node, numbering_.accelerators + own, from, far);
            sink.add(numbering_.down({here.node, own}), ExchangeWay::only, far);
        }
    }
    return true;
}

}  // namespace weft
