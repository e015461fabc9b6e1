// A complete exchange on a machine built of blocks: what each rank sends leaves its node, and what it receives enters
// it, whomever it comes from; the network between counts what goes from leaf to leaf.
#include <algorithm>
#include <map>
#include <utility>

#include "topologies/block_router.hpp"

namespace weft {
namespace {

// Adds the latency of ports and of the routes inside nodes to that of the network.
class WithEnds final : public ExchangeSink {
  public:
    WithEnds(ExchangeSink& sink, const Numbering& numbering, Seconds ends)
        : sink_(sink), numbering_(numbering), ends_(ends) {}
    void add(LinkId link, ExchangeRoute kind, double messages, std::uint32_t parts) override {
        sink_.add(numbering_.network_link(link), kind, messages, parts);
    }
    void reach(ExchangeRoute kind, Seconds latency) override { sink_.reach(kind, latency + ends_); }

  private:
    ExchangeSink& sink_;
    const Numbering& numbering_;
    Seconds ends_;
};

}  // namespace

bool Network::add_exchange(std::span<const PortUse> ports, std::uint64_t salt, Router::Routes routes,
                           const Table<LinkClassId, LinkClass>& classes, ExchangeSink& sink) const {
    if (!routes_by_leaf()) return false;
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
    const std::vector<LinkRun> runs = links();
    const auto latency = [&](const Route& route) {
        Seconds sum;
        for (const LinkId link : route.links()) {
            auto run = runs.begin();
            for (std::size_t left = index(link); left >= run->links; ++run) left -= run->links;
            sum += classes[run->link_class].latency;
        }
        return sum;
    };
    const auto add = [&](const Route& route, ExchangeRoute kind, double messages, std::uint32_t parts) {
        for (const LinkId link : route.links()) sink.add(link, kind, messages, parts);
        sink.reach(kind, latency(route));
    };
    for (const PortUse& to : ports) {
        if (to.receivers == 0) continue;
        for (const auto& [number, from] : leaves) {
            const auto own = of_node.find({number, to.port.node});
            const double senders = from.senders - (own == of_node.end() ? 0.0 : own->second);
            if (senders <= 0) continue;
            const std::uint32_t count = detours(from.port, to.port);
            if (routes == Router::Routes::straight) {
                add(route(from.port, to.port, salt), count > 0 ? ExchangeRoute::minimal : ExchangeRoute::only,
                    senders * to.receivers, 1);
                continue;
            }
            for (std::uint32_t i = 0; i < count; ++i)
                add(detour(from.port, to.port, salt, i), ExchangeRoute::detour, senders * to.receivers, count);
        }
    }
    return true;
}

void BlockRouter::add_node(ExchangeSink& sink, ExchangeRoute kind, std::uint32_t node, std::uint32_t from,
                           std::uint32_t to, double messages) const {
    for (const LinkId link : routes_.route(from, to).links()) sink.add(numbering_.link(node, link), kind, messages);
}

Seconds BlockRouter::latency_inside(std::uint32_t from, std::uint32_t to) const {
    return sum_of<Seconds>(routes_.route(from, to).links(),
                           [&](LinkId link) { return classes_[node_classes_[index(link)]].latency; });
}

// The ranks of an exchange on one node, by their accelerators, and how many receive by each NIC.
struct BlockRouter::NodeRanks {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> locals;
    std::vector<std::uint32_t> receivers;
};

// What all ranks of an exchange send and receive, node by node.
struct BlockRouter::ExchangeRanks {
    std::vector<NodeRanks> nodes;
    std::vector<std::uint32_t> receivers;  // by NIC number
};

BlockRouter::ExchangeRanks BlockRouter::ranks_of_exchange(std::span<const RankId> ranks) const {
    std::vector<RankId> sorted(ranks.begin(), ranks.end());
    std::ranges::sort(sorted);
    ExchangeRanks all{.nodes = {}, .receivers = std::vector<std::uint32_t>(numbering_.nics)};
    for (const RankId rank : sorted) {
        if (all.nodes.empty() || all.nodes.back().node != node(rank))
            all.nodes.push_back({node(rank), {}, std::vector<std::uint32_t>(numbering_.nics)});
        all.nodes.back().locals.push_back(local(rank));
        ++all.nodes.back().receivers[port(rank).nic];
        ++all.receivers[port(rank).nic];
    }
    return all;
}

// By rails, where the receiver chooses the NIC that a message leaves by; else by all ports at once.
bool BlockRouter::add_between_nodes(const ExchangeRanks& ranks, std::uint64_t salt, Routes routes,
                                    ExchangeSink& sink) const {
    if (seating_.hash_seed) return false;  // ports of a leaf have routes of their own
    const bool by_rail = pxn_ == Pxn::on;
    for (std::uint32_t rail = 0; rail < (by_rail ? numbering_.nics : 1); ++rail) {
        std::vector<PortUse> uses;
        Seconds longest_out, longest_in;  // inside nodes
        for (const NodeRanks& here : ranks.nodes) {
            for (std::uint32_t nic = by_rail ? rail : 0; nic < (by_rail ? rail + 1 : numbering_.nics); ++nic) {
                const auto size = static_cast<std::uint32_t>(here.locals.size());
                const std::uint32_t receivers = here.receivers[nic], senders = by_rail ? size : receivers;
                if (senders > 0) uses.push_back({seat({here.node, nic}), senders, receivers});
            }
            for (const std::uint32_t local : here.locals) {
                const std::uint32_t own = routes_.nic_of(local), nic = by_rail ? rail : own;
                if (by_rail && ranks.receivers[nic] == 0) continue;
                longest_out = std::max(longest_out, latency_inside(local, numbering_.accelerators + nic));
                if (own == nic) longest_in = std::max(longest_in, latency_inside(numbering_.accelerators + nic, local));
            }
        }
        const Seconds cable = classes_[network_->port_class()].latency;
        WithEnds network(sink, numbering_, longest_out + longest_in + 2.0 * cable);
        if (!network_->add_exchange(uses, salt, routes, classes_, network)) return false;
    }
    return true;
}

// What a rank sends and receives on links of its node, `far` messages of each to and from other nodes.
void BlockRouter::add_inside_node(const ExchangeRanks& ranks, const NodeRanks& here, std::uint32_t rank, double far,
                                  ExchangeSink& sink) const {
    for (const std::uint32_t to : here.locals) {
        if (rank == to) continue;
        add_node(sink, ExchangeRoute::inside, here.node, rank, to, 1.0);
        sink.reach(ExchangeRoute::inside, latency_inside(rank, to));
    }
    if (far == 0.0) return;
    const std::uint32_t own = routes_.nic_of(rank);
    const auto leave = [&](std::uint32_t nic, double messages) {
        if (messages == 0.0) return;
        add_node(sink, ExchangeRoute::only, here.node, rank, numbering_.accelerators + nic, messages);
        sink.add(numbering_.up({here.node, nic}), ExchangeRoute::only, messages);
    };
    for (std::uint32_t nic = 0; pxn_ == Pxn::on && nic < numbering_.nics; ++nic)
        leave(nic, ranks.receivers[nic] - here.receivers[nic]);
    if (pxn_ == Pxn::off) leave(own, far);
    add_node(sink, ExchangeRoute::only, here.node, numbering_.accelerators + own, rank, far);
    sink.add(numbering_.down({here.node, own}), ExchangeRoute::only, far);
}

bool BlockRouter::add_exchange(std::span<const RankId> ranks, std::uint64_t salt, Routes routes,
                               ExchangeSink& sink) const {
    const ExchangeRanks all = ranks_of_exchange(ranks);
    if (all.nodes.size() > 1 && !add_between_nodes(all, salt, routes, sink)) return false;
    if (routes == Routes::detours) return true;
    for (const NodeRanks& here : all.nodes) {
        const double far = static_cast<double>(ranks.size()) - static_cast<double>(here.locals.size());
        for (const std::uint32_t rank : here.locals) add_inside_node(all, here, rank, far, sink);
    }
    return true;
}

}  // namespace weft
