#include "sim/collective/row_traffic.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "sim/collective/link_loads.hpp"
#include "sim/collective/protocol_limits.hpp"

namespace weft {

// What passes load with a protocol.
class RowTraffic::Units {
  public:
    Units(const RowTraffic& traffic, const ProtocolCost& protocol) {
        for (const MessageSize& size : traffic.survey_.kinds().sizes()) {
            const double load = size.share / efficiency(protocol, size.across, traffic.communicator_.ports);
            units_.push_back({LinkLoads::units(load), size.detours > 0 ? LinkLoads::units(load / size.detours) : 0,
                              size.detours > 0 ? Way::minimal : Way::only});
        }
    }

    // Groups together.
    template <class Visit>
    void for_each_link(std::span<const LinkPasses> all, Visit visit) const {
        const auto alike = [](const LinkPasses& a, const LinkPasses& b) { return a.link == b.link; };
        for_each_run(all, alike, visit);
    }
    // Group by group.
    template <class Visit>
    void for_each_own(std::span<const LinkPasses> all, Visit visit) const {
        const auto alike = [](const LinkPasses& a, const LinkPasses& b) {
            return a.link == b.link && a.group == b.group;
        };
        for_each_run(all, alike, visit);
    }

  private:
    // Calls visit(first, cell) for every run of passes that `alike` takes for one.
    template <class Alike, class Visit>
    void for_each_run(std::span<const LinkPasses> all, Alike alike, Visit visit) const {
        for (std::size_t i = 0; i < all.size();) {
            const LinkPasses& first = all[i];
            LinkLoads::Cell cell;
            for (; i < all.size() && alike(all[i], first); ++i) {
                const Each& each = units_[all[i].size];
                cell.by_way[static_cast<std::size_t>(each.way)] += all[i].routes * each.route;
                cell.by_way[static_cast<std::size_t>(Way::detour)] += all[i].detours * each.detour;
            }
            visit(first, cell);
        }
    }

    struct Each {
        LinkLoads::Units route = 0, detour = 0;
        Way way = Way::only;
    };
    std::vector<Each> units_;  // by size
};

RowTraffic::RowTraffic(const Topology& topology, const PartedRow& row, const Communicator& communicator,
                       const Phase& phase)
    : topology_(topology),
      communicator_(communicator),
      survey_(topology, row, communicator, phase),
      shown_(shown_passes(topology, row.circles(), survey_)),
      latencies_(topology, survey_, communicator),
      busiest_(topology) {}

bool RowTraffic::has_detours() const {
    return std::ranges::any_of(survey_.kinds().sizes(), [](const MessageSize& size) { return size.detours > 0; });
}

BytesPerSecond RowTraffic::alone(const ProtocolCost& protocol) {
    const auto [known, is_new] = alone_.try_emplace(&protocol);
    if (is_new) known->second = topology_.fabric()->has_mesh() ? alone_on_mesh(protocol) : alone_on_tree(protocol);
    return known->second;
}

// Whatever detours there are, all are taken.
BytesPerSecond RowTraffic::alone_on_tree(const ProtocolCost& protocol) const {
    const double detoured = has_detours() ? 1.0 : 0.0;
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    const Units units(*this, protocol);
    const auto visit = [&](const LinkPasses& of, const LinkLoads::Cell& cell) {
        if (const double load = cell.at(detoured); load > 0.0) {
            least = std::min(least, topology_.link(of.link).bandwidth / load);
        }
    };
    for (const ShownPasses::OnNode& node : shown_.on_nodes) units.for_each_own(node.of_groups, visit);
    units.for_each_own(shown_.on_circles, visit);
    return least;
}

// Each group settles on its own share of detours.
BytesPerSecond RowTraffic::alone_on_mesh(const ProtocolCost& protocol) {
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    const Units units(*this, protocol);
    std::vector<std::vector<Loaded>> on_nodes;
    std::uint32_t part = LinkPasses::several;
    for (const MeshPasses::Alike& alike : survey_.mesh().alike) {
        if (alike.part != part) {
            part = alike.part;
            on_nodes = loads_on_nodes(survey_.parts()[part], units);
        }
        busiest_.clear();
        for (const Loaded& each : on_nodes[alike.within]) busiest_.add(each.link, each.cell);
        add_to_busiest(alike.passes, units);
        least = std::min(least, busiest_.settle().rate);
    }
    return least;
}

// By how the part's groups are moved inside their nodes.
std::vector<std::vector<RowTraffic::Loaded>> RowTraffic::loads_on_nodes(const RowSurvey::Part& part,
                                                                        const Units& units) const {
    std::vector<bool> is_met(shown_.on_nodes.size());
    std::vector<std::vector<Loaded>> loads(survey_.row().within.size());
    for (const std::uint32_t content : part.contents) {
        if (is_met[content]) continue;
        is_met[content] = true;
        units.for_each_own(shown_.on_nodes[content].of_groups, [&](const LinkPasses& of, const LinkLoads::Cell& cell) {
            loads[of.group].push_back({of.link, cell});
        });
    }
    return loads;
}

void RowTraffic::add_to_busiest(std::span<const LinkPasses> passes, const Units& units) {
    units.for_each_link(passes,
                        [&](const LinkPasses& of, const LinkLoads::Cell& cell) { busiest_.add(of.link, cell); });
}

PhaseCost RowTraffic::on_idle_links(const Phase& phase, const ProtocolCost& protocol) {
    return cost({}, 0.0, phase, protocol);
}

PhaseCost RowTraffic::loading(std::span<const LinkPasses> passes, const Phase& phase, const ProtocolCost& protocol) {
    const Units units(*this, protocol);
    double detoured = has_detours() ? 1.0 : 0.0;
    if (has_detours() && topology_.routing == Routing::adaptive) {
        busiest_.clear();
        add_to_busiest(passes, units);
        detoured = busiest_.settle().detoured;
    }
    std::vector<LinkLoad> loads;
    loads.reserve(passes.size());
    units.for_each_link(passes, [&](const LinkPasses& of, const LinkLoads::Cell& cell) {
        if (const double load = cell.at(detoured); load > 0.0) loads.push_back({of.link, load});
    });
    return cost(std::move(loads), detoured, phase, protocol);
}

PhaseCost RowTraffic::cost(std::vector<LinkLoad> loads, double detoured, const Phase& phase,
                           const ProtocolCost& protocol) {
    const BytesPerSecond cap = rate_of_sender(phase, communicator_, topology_, protocol);
    return {.pattern = limited(std::move(loads), cap, alone(protocol), phase.duty, topology_),
            .path = latencies_.of(phase, protocol),
            .bytes_per_message_byte = phase.volume(),
            .overlap = protocol.overlap,
            .detoured = detoured};
}

}  // namespace weft
