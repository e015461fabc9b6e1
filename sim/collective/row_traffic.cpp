#include "sim/collective/row_traffic.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/collective/link_loads.hpp"
#include "sim/collective/protocol_limits.hpp"

namespace weft {

RowTraffic::RowTraffic(const CountedRow& row, RowLatencies& latencies, const Communicator& communicator)
    : topology_(row.topology),
      survey_(row.survey),
      latencies_(latencies),
      communicator_(communicator),
      shown_(row.shown) {
    WEFT_CHECK(topology_.routing != Routing::adaptive, "a sample of links does not tell what settles on detours");
    passes_ = passes_of(row);
}

double RowTraffic::detoured() const {
    const auto& sizes = survey_.kinds().sizes();
    return std::ranges::any_of(sizes, [](const MessageSize& size) { return size.detours > 0; }) ? 1.0 : 0.0;
}

Pattern RowTraffic::pattern(const Phase& phase, const ProtocolCost& protocol) const {
    struct Units {
        LinkLoads::Units route = 0, detour = 0;
        Way way = Way::only;
    };
    std::vector<Units> units;  // by size
    for (const MessageSize& size : survey_.kinds().sizes()) {
        const double load = size.share / efficiency(protocol, size.across, communicator_.ports);
        units.push_back({LinkLoads::units(load), size.detours > 0 ? LinkLoads::units(load / size.detours) : 0,
                         size.detours > 0 ? Way::minimal : Way::only});
    }
    const double q = detoured();
    const auto add = [&](LinkLoads::Cell& cell, const LinkPasses& passes) {
        const Units& each = units[passes.size];
        cell.by_way[static_cast<std::size_t>(each.way)] += passes.routes * each.route;
        cell.by_way[static_cast<std::size_t>(Way::detour)] += passes.detours * each.detour;
    };
    BytesPerSecond alone{std::numeric_limits<double>::infinity()};
    // Calls visit(link, load) for every link; the least that it leaves a group by itself is `alone`.
    const auto for_each_link = [&](const std::vector<LinkPasses>& all, auto visit) {
        for (auto at = all.begin(); at != all.end();) {
            const LinkId link = at->link;
            LinkLoads::Cell on_link;
            while (at != all.end() && at->link == link) {
                LinkLoads::Cell own;
                const std::uint32_t group = at->group;
                for (; at != all.end() && at->link == link && at->group == group; ++at) {
                    add(own, *at);
                    add(on_link, *at);
                }
                const double load = group == LinkPasses::several ? 0.0 : own.at(q);
                if (load > 0.0) alone = std::min(alone, topology_.link(link).bandwidth / load);
            }
            visit(link, on_link.at(q));
        }
    };
    std::vector<LinkLoad> loads;
    for_each_link(passes_, [&](LinkId link, double load) {
        if (load > 0.0) loads.push_back({link, load});
    });
    for_each_link(shown_.of_groups, [](LinkId, double) {});
    const BytesPerSecond cap = rate_of_sender(phase, communicator_, topology_, protocol);
    return limited(std::move(loads), cap, alone, phase.duty, topology_);
}

}  // namespace weft
