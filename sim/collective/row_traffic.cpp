#include "sim/collective/row_traffic.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/collective/critical_path.hpp"
#include "sim/collective/link_loads.hpp"
#include "sim/collective/messages.hpp"
#include "sim/collective/protocol_limits.hpp"
#include "sim/collective/row_nodes.hpp"

namespace weft {

RowTraffic::RowTraffic(const Topology& topology, const FabricSample& sample, const GroupRow& row,
                       const Communicator& communicator, const Phase& phase)
    : topology_(topology), tree_(*topology.router->tree()), sample_(sample), row_(row), communicator_(communicator) {
    WEFT_CHECK(topology.routing != Routing::adaptive, "a sample of links does not tell what settles on detours");
    const double share = 1.0 / static_cast<double>(communicator.channels.size());
    messages_.reserve(communicator.channels.size() * std::max<std::size_t>(communicator.size(), phase.edges.size()));
    for (std::uint32_t c = 0; c < communicator.channels.size(); ++c) {
        const std::vector<RankId>& order = communicator.channels[c];
        for_each_message(phase, communicator.size(), [&](std::uint32_t i, std::uint32_t j, double weight) {
            messages_.push_back({order[i], order[j], c, share * weight});
        });
    }
    const RowNodes nodes(topology, row);
    bool knows_one_switch = false, equal_nics = false;
    for (const std::uint32_t across : row.across) {
        const bool on_one_switch = equal_nics && nodes.on_one_switch(across);
        // Where a group before it was, too, its messages take no other times.
        if (on_one_switch && knows_one_switch && !nodes.touch(sample, across)) continue;
        add_across(across);
        if (across == 0) {
            equal_nics = std::ranges::none_of(turns_, [](auto turn) { return turn != inside && turn >= to_other_nic; });
        }
        knows_one_switch |= equal_nics && nodes.on_one_switch(across);
    }
    merge_passes();
}

std::uint8_t RowTraffic::turn_of(RankId from, RankId to) const {
    if (topology_.node_of(from) == topology_.node_of(to)) return inside;
    const Climb climb = tree_.climb(from, to);
    return static_cast<std::uint8_t>(climb.turn + (climb.leave != climb.enter ? to_other_nic : 0));
}

// NICs of one number that meet on one switch do so whatever the number: groups moved inside their nodes pass no more
// switches than the first if none of its messages turns above that.
void RowTraffic::add_across(std::uint32_t across) {
    const std::uint32_t nodes = across / topology_.ranks_per_node;
    turns_.clear();
    turns_.reserve(messages_.size());
    candidates_.clear();
    for (std::uint32_t i = 0; i < messages_.size(); ++i) {
        const auto [from, to, channel, share] = messages_[i];
        turns_.push_back(turn_of(moved(from, across), moved(to, across)));
        const bool on_switches = turns_.back() != inside && turns_.back() != 0;
        if (on_switches || sample_.weight(0, topology_.node_of(from) + nodes) > 0 ||
            sample_.weight(0, topology_.node_of(to) + nodes) > 0) {
            candidates_.push_back(i);
        }
    }
    for (const std::uint32_t within : row_.within) add_group(across, within);
    if (std::ranges::find(known_turns_, turns_) != known_turns_.end()) return;
    add_latencies(across);
    known_turns_.push_back(turns_);
}

void RowTraffic::add_group(std::uint32_t across, std::uint32_t within) {
    for (const std::uint32_t i : candidates_) {
        Message message = messages_[i];
        message.from = moved(message.from, across + within);
        message.to = moved(message.to, across + within);
        const bool leaves_sample = sample_.weight(0, topology_.node_of(message.from)) > 0,
                   enters_sample = sample_.weight(0, topology_.node_of(message.to)) > 0;
        const std::uint32_t size = size_of(message, turns_[i] != inside);
        if (turns_[i] == inside) {
            pass(topology_.route(message.from, message.to, message.channel), size, 1, 0);
            continue;
        }
        const std::uint32_t detours = sizes_[size].detours;
        if (leaves_sample) pass(tree_.leaving(message.from, message.to), size, 1, detours);
        if (enters_sample) pass(tree_.entering(message.from, message.to), size, 1, detours);
        if (turns_[i] != 0 && sample_.touches_switches(message.from, message.to)) add_ways(message, size);
    }
    ++group_;
}

std::uint32_t RowTraffic::size_of(const Message& message, bool across) {
    const Size size{.share = message.share,
                    .detours = across && topology_.routing != Routing::minimal
                                   ? topology_.router->detours(message.from, message.to)
                                   : 0,
                    .across = across};
    const auto known = static_cast<std::uint32_t>(std::ranges::find(sizes_, size) - sizes_.begin());
    if (known == sizes_.size()) sizes_.push_back(size);
    return known;
}

void RowTraffic::pass(const Route& route, std::uint32_t size, std::uint32_t routes, std::uint32_t detours) {
    for (const LinkId link : route.links()) passes_.push_back({link, group_, size, routes, detours});
}

// Between the nodes, on the route and on all detours.
void RowTraffic::add_ways(const Message& message, std::uint32_t size) {
    const auto pass_switches = [&](const Route& route, std::uint32_t routes, std::uint32_t detours) {
        for (const LinkId link : route.links()) {
            const RouteTree::Place place = tree_.place(link);
            if (place.tier == 0 || sample_.weight(place.tier, place.subtree) == 0) continue;
            passes_.push_back({link, group_, size, routes, detours});
        }
    };
    pass_switches(topology_.route(message.from, message.to, message.channel), 1, 0);
    for (std::uint32_t i = 0; i < sizes_[size].detours; ++i) {
        pass_switches(topology_.router->detour(message.from, message.to, message.channel, i), 0, 1);
    }
}

void RowTraffic::merge_passes() {
    const auto key = [](const Passes& passes) { return std::tuple(passes.link, passes.group, passes.size); };
    std::ranges::sort(passes_, {}, key);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < passes_.size(); ++i) {
        if (kept > 0 && key(passes_[kept - 1]) == key(passes_[i])) {
            passes_[kept - 1].routes += passes_[i].routes;
            passes_[kept - 1].detours += passes_[i].detours;
        } else {
            passes_[kept++] = passes_[i];
        }
    }
    passes_.resize(kept);
    passes_.shrink_to_fit();
}

// Messages between equal places in nodes that turn alike are of one kind.
RowTraffic::Latencies RowTraffic::kinds() const {
    Latencies kinds;
    std::unordered_map<std::uint64_t, std::uint32_t> known;  // only looked up
    std::uint64_t last = ~std::uint64_t{0};
    kinds.kind_of.reserve(messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        const std::uint64_t kind = std::uint64_t{turns_[i]} << 56U |
                                   std::uint64_t{topology_.local_of(messages_[i].from)} << 28U |
                                   topology_.local_of(messages_[i].to);
        if (kind != last) {
            const auto [found, is_new] = known.try_emplace(kind, static_cast<std::uint32_t>(kinds.across.size()));
            if (is_new) kinds.across.push_back(turns_[i] != inside);
            kinds.kind_of.push_back(found->second);
            last = kind;
        } else {
            kinds.kind_of.push_back(kinds.kind_of.back());
        }
    }
    return kinds;
}

void RowTraffic::add_latencies(std::uint32_t across) {
    Latencies alike = kinds();
    std::vector<std::size_t> first(alike.across.size(), messages_.size());  // message of a kind
    for (std::size_t i = messages_.size(); i-- > 0;) first[alike.kind_of[i]] = i;
    const auto of_links = [&](std::size_t i, std::uint32_t by) {
        return topology_.latency(topology_.route(moved(messages_[i].from, by), moved(messages_[i].to, by)));
    };
    for (const std::uint32_t within : row_.within) {
        const std::uint32_t by = across + within;
        if (within > 0 && !turn_alike(by)) {
            Latencies apart;
            std::vector<Seconds>& each = apart.of_kinds.emplace_back();
            for (std::size_t i = 0; i < messages_.size(); ++i) {
                apart.kind_of.push_back(static_cast<std::uint32_t>(i));
                apart.across.push_back(turns_[i] != inside);
                each.push_back(of_links(i, by));
            }
            latencies_.push_back(std::move(apart));
            continue;
        }
        std::vector<Seconds> of_kinds;
        for (const std::size_t i : first) of_kinds.push_back(of_links(i, by));
        if (std::ranges::find(alike.of_kinds, of_kinds) == alike.of_kinds.end()) {
            alike.of_kinds.push_back(std::move(of_kinds));
        }
    }
    latencies_.push_back(std::move(alike));
}

// Whether the messages of a group moved inside its nodes, too, turn where those at hand do.
bool RowTraffic::turn_alike(std::uint32_t by) const {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        if (turns_[i] == inside || turns_[i] == 0) continue;
        if (turn_of(moved(messages_[i].from, by), moved(messages_[i].to, by)) != turns_[i]) return false;
    }
    return true;
}

double RowTraffic::detoured() const {
    const bool has_detours = std::ranges::any_of(sizes_, [](const Size& size) { return size.detours > 0; });
    return has_detours ? 1.0 : 0.0;
}

Pattern RowTraffic::pattern(const Phase& phase, const ProtocolCost& protocol) const {
    struct Units {
        LinkLoads::Units route = 0, detour = 0;
        Way way = Way::only;
    };
    std::vector<Units> units;  // by size
    for (const Size& size : sizes_) {
        const double load = size.share / efficiency(protocol, size.across, communicator_.ports);
        units.push_back({LinkLoads::units(load), size.detours > 0 ? LinkLoads::units(load / size.detours) : 0,
                         size.detours > 0 ? Way::minimal : Way::only});
    }
    const double q = detoured();
    BytesPerSecond alone{std::numeric_limits<double>::infinity()};
    std::vector<LinkLoad> loads;
    const auto add = [&](LinkLoads::Cell& cell, const Passes& passes) {
        const Units& each = units[passes.size];
        cell.by_way[static_cast<std::size_t>(each.way)] += passes.routes * each.route;
        cell.by_way[static_cast<std::size_t>(Way::detour)] += passes.detours * each.detour;
    };
    for (auto at = passes_.begin(); at != passes_.end();) {
        const LinkId link = at->link;
        const BytesPerSecond bandwidth = topology_.link(link).bandwidth;
        LinkLoads::Cell all;
        while (at != passes_.end() && at->link == link) {
            LinkLoads::Cell own;
            for (const std::uint32_t group = at->group; at != passes_.end() && at->link == link && at->group == group;
                 ++at) {
                add(own, *at);
                add(all, *at);
            }
            if (const double load = own.at(q); load > 0.0) alone = std::min(alone, bandwidth / load);
        }
        if (const double load = all.at(q); load > 0.0) loads.push_back({link, load});
    }
    const BytesPerSecond cap = rate_of_sender(phase, communicator_, topology_, protocol);
    return limited(std::move(loads), cap, alone, phase.duty, topology_);
}

Seconds RowTraffic::latency(const Phase& phase, const ProtocolCost& protocol) const {
    Seconds longest;
    const std::size_t round = messages_.size() / communicator_.channels.size();
    std::vector<MessageLatency> messages;
    messages.reserve(messages_.size());
    for (const Latencies& each : latencies_) {
        for (const std::vector<Seconds>& of_kinds : each.of_kinds) {
            messages.clear();
            for (const std::uint32_t kind : each.kind_of) {
                const Seconds step = each.across[kind] ? protocol.step_across : protocol.step_in_node;
                messages.push_back({step + of_kinds[kind], each.across[kind]});
            }
            for (std::size_t first = 0; first < messages.size(); first += round) {
                longest = std::max(longest, critical_path(phase, std::span(messages).subspan(first, round)));
            }
        }
    }
    return phase.peer == Peer::all ? longest + posting(topology_, protocol, communicator_.channels.front()) : longest;
}

}  // namespace weft
