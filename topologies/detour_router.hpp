// A router that goes around dead links.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/topology/topology.hpp"
#include "topologies/live_links.hpp"

namespace weft {

// Routes stay those of the router inside where they cross nothing dead. Else, in this order:
// - Where the way to the network is dead at one end, messages pass through another accelerator of that node and its
//   NIC: the nearest one that has a live way, and of equally near ones the next by number.
// - Across the network, the routes of the next salts are tried, then the detours.
// - What is left takes the shortest way that there is.
// Detours leave and enter nodes where routes do; a dead one is replaced by the next.
class DetourRouter final : public Router {
  public:
    // Every rank reaches every other one by the live links.
    DetourRouter(std::shared_ptr<const Router> inner, LiveLinks links);

    // Throws RangeError if the way around is longer than Route::capacity.
    Route route(RankId from, RankId to, std::uint64_t salt) const override;
    std::uint32_t detours(RankId from, RankId to) const override;
    Route detour(RankId from, RankId to, std::uint64_t salt, std::uint32_t i) const override;
    LinkId uplink(RankId rank) const override;
    LinkId downlink(RankId rank) const override;

  private:
    // The accelerators between which a message crosses the network.
    struct Gates {
        RankId out{}, in{};
    };
    // The links by which a rank's traffic passes the edge of its node.
    struct Doors {
        LinkId up{}, down{};
    };

    RankId neighbour(RankId rank, std::size_t i) const;  // of the same node; itself, then the nearest
    Route inside(RankId from, RankId to) const;
    std::optional<Route> joined(RankId from, Gates gates, const Route& between, RankId to) const;
    std::optional<Gates> gates(RankId from, RankId to) const;
    std::optional<Route> between(Gates gates, std::uint64_t salt) const;
    Route shortest(RankId from, RankId to) const;
    Doors find_doors(RankId rank) const;
    void list_neighbours();
    void route_inside_crippled_nodes();

    std::shared_ptr<const Router> inner_;
    LiveLinks links_;
    std::vector<std::vector<std::uint32_t>> neighbours_;   // by accelerator of a node
    std::map<std::pair<RankId, RankId>, Route> rerouted_;  // inside nodes, where the inner route is dead
    std::map<RankId, Doors> doors_;                        // of ranks of crippled nodes
};

}  // namespace weft
