#include "sim/collective/row_traffic.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "sim/base/check.hpp"
#include "sim/collective/link_loads.hpp"
#include "sim/collective/protocol_limits.hpp"

namespace weft {

// What passes load with a protocol.
class RowTraffic::Units {
  public:
    Units(const RowTraffic& traffic, const ProtocolCost& protocol) : detoured_(traffic.detoured()) {
        for (const MessageSize& size : traffic.survey_.kinds().sizes()) {
            const double load = size.share / efficiency(protocol, size.across, traffic.communicator_.ports);
            units_.push_back({LinkLoads::units(load), size.detours > 0 ? LinkLoads::units(load / size.detours) : 0,
                              size.detours > 0 ? Way::minimal : Way::only});
        }
    }

    // Calls visit(link, load) for every run of passes that `alike` takes for one.
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
            visit(first.link, cell.at(detoured_));
        }
    }

  private:
    struct Each {
        LinkLoads::Units route = 0, detour = 0;
        Way way = Way::only;
    };
    double detoured_;
    std::vector<Each> units_;  // by size
};

RowTraffic::RowTraffic(const Topology& topology, const PartedRow& row, const Communicator& communicator,
                       const Phase& phase)
    : topology_(topology),
      communicator_(communicator),
      survey_(topology, row, communicator, phase),
      shown_(shown_passes(topology, row.circles(), survey_)),
      latencies_(topology, survey_, communicator) {
    WEFT_CHECK(topology.routing != Routing::adaptive, "a sample of links does not tell what settles on detours");
}

double RowTraffic::detoured() const {
    const auto& sizes = survey_.kinds().sizes();
    return std::ranges::any_of(sizes, [](const MessageSize& size) { return size.detours > 0; }) ? 1.0 : 0.0;
}

BytesPerSecond RowTraffic::alone(const ProtocolCost& protocol) {
    const auto [known, is_new] = alone_.try_emplace(&protocol, BytesPerSecond{std::numeric_limits<double>::infinity()});
    if (!is_new) return known->second;
    BytesPerSecond& least = known->second;
    const auto alike = [](const LinkPasses& a, const LinkPasses& b) { return a.link == b.link && a.group == b.group; };
    Units(*this, protocol).for_each_run(shown_.of_groups, alike, [&](LinkId link, double load) {
        if (load > 0.0) least = std::min(least, topology_.link(link).bandwidth / load);
    });
    return least;
}

PhaseCost RowTraffic::on_idle_links(const Phase& phase, const ProtocolCost& protocol) {
    return cost({}, phase, protocol);
}

PhaseCost RowTraffic::loading(std::span<const LinkPasses> passes, const Phase& phase, const ProtocolCost& protocol) {
    std::vector<LinkLoad> loads;
    const auto alike = [](const LinkPasses& a, const LinkPasses& b) { return a.link == b.link; };
    Units(*this, protocol).for_each_run(passes, alike, [&](LinkId link, double load) {
        if (load > 0.0) loads.push_back({link, load});
    });
    return cost(std::move(loads), phase, protocol);
}

PhaseCost RowTraffic::cost(std::vector<LinkLoad> loads, const Phase& phase, const ProtocolCost& protocol) {
    const BytesPerSecond cap = rate_of_sender(phase, communicator_, topology_, protocol);
    return {.pattern = limited(std::move(loads), cap, alone(protocol), phase.duty, topology_),
            .path = latencies_.of(phase, protocol),
            .bytes_per_message_byte = phase.volume(),
            .overlap = protocol.overlap,
            .detoured = detoured()};
}

}  // namespace weft
