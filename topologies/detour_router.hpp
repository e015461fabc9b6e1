// A router that goes around dead links.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/topology/topology.hpp"
#include "topologies/live_links.hpp"

namespace weft {

// Routes stay those of the router inside where they cross nothing dead. Else, in this order:
// - Where the route to the network is dead at one end, messages pass through another accelerator of that node and its
//   NIC: the nearest one that has a live route, and of equally near ones the next by number.
// - Across the network, the routes of the next salts are tried, then the detours.
// - What is left takes the shortest route that there is.
// Detours leave and enter nodes where routes do; a dead one is replaced by the next.
class DetourRouter final : public Router {
  public:
    // Every rank reaches every other one by the live links.
    DetourRouter(std::shared_ptr<const Router> inner, LiveLinks links)
        : inner_(std::move(inner)), links_(std::move(links)) {
        list_neighbours();
        route_inside_crippled_nodes();
        if (links_.ranks() == links_.ranks_per_node()) return;  // nothing leaves the only node
        for (const std::uint32_t node : links_.crippled_nodes()) {
            for (std::uint32_t local = 0; local < links_.ranks_per_node(); ++local) {
                const RankId rank{node * links_.ranks_per_node() + local};
                doors_.emplace(rank, find_door(rank));
            }
        }
    }

    // Throws RangeError if the route around is longer than Route::capacity.
    Route route(RankId from, RankId to, std::uint64_t salt) const override {
        if (links_.node_of(from) == links_.node_of(to)) return inside(from, to);
        const Route direct = inner_->route(from, to, salt);
        if (links_.alive(direct)) return direct;
        if (const std::optional<Gates> through = gates(from, to)) {
            if (const std::optional<Route> middle = between(*through, salt)) {
                if (const std::optional<Route> route = joined(from, *through, *middle, to)) return *route;
            }
        }
        return shortest(from, to);
    }

    std::uint32_t detours(RankId from, RankId to) const override {
        if (links_.node_of(from) == links_.node_of(to)) return 0;
        const std::optional<Gates> through = gates(from, to);
        return through ? inner_->detours(through->out, through->in) : 0;
    }

    Route detour(RankId from, RankId to, std::uint64_t salt, std::uint32_t i) const override {
        const std::optional<Gates> through = gates(from, to);
        const std::uint32_t detours = through ? inner_->detours(through->out, through->in) : 0;
        for (std::uint32_t k = 0; k < detours; ++k) {
            const Route middle = inner_->detour(through->out, through->in, salt, (i + k) % detours);
            if (!links_.alive(middle)) continue;
            if (const std::optional<Route> route = joined(from, *through, middle, to)) return *route;
        }
        return route(from, to, salt);
    }

    LinkId uplink(RankId rank) const override {
        const auto found = doors_.find(rank);
        return found == doors_.end() ? inner_->uplink(rank) : found->second;
    }

  private:
    static constexpr std::uint64_t salts_tried =
        16;  // as many as one leaf of the shipped fat trees has routes up, at least

    // The accelerators between which a message crosses the network.
    struct Gates {
        RankId out{}, in{};
    };
    // Of the same node: itself, then the nearest.
    RankId neighbour(RankId rank, std::size_t i) const {
        const std::uint32_t n = links_.ranks_per_node(), number = static_cast<std::uint32_t>(rank);
        return RankId(number - number % n + neighbours_[number % n][i]);
    }
    Route inside(RankId from, RankId to) const {
        const auto found = rerouted_.find({from, to});
        return found == rerouted_.end() ? inner_->route(from, to, 0) : found->second;
    }

    // Nothing if it goes round in circles or is too long.
    std::optional<Route> joined(RankId from, Gates gates, const Route& between, RankId to) const {
        Route route = inside(from, gates.out);
        const Route last = inside(gates.in, to);
        if (std::size_t{route.hops} + between.hops + last.hops > Route::capacity) return std::nullopt;
        route.append(between);
        route.append(last);
        return links_.visits_twice(route) ? std::nullopt : std::optional(route);
    }

    // The first pair of accelerators, near ones first, between which the ends of the route are alive. They do not
    // depend on the salt: all routes between two ranks use the same links inside nodes and at their ports.
    std::optional<Gates> gates(RankId from, RankId to) const {
        if (!links_.is_crippled(from) && !links_.is_crippled(to)) return Gates{from, to};
        const std::size_t n = links_.ranks_per_node();
        for (std::size_t others = 0; others <= 2 * (n - 1); ++others) {
            for (std::size_t at_to = others < n ? 0 : others - n + 1; at_to <= std::min(others, n - 1); ++at_to) {
                const Gates tried{neighbour(from, others - at_to), neighbour(to, at_to)};
                const std::optional<Route> route = joined(from, tried, inner_->route(tried.out, tried.in, 0), to);
                if (route && links_.alive_in_nodes(*route)) return tried;
            }
        }
        return std::nullopt;
    }

    std::optional<Route> between(Gates gates, std::uint64_t salt) const {
        for (std::uint64_t i = 0; i < salts_tried; ++i) {
            const Route route = inner_->route(gates.out, gates.in, salt + i);
            if (links_.alive(route)) return route;
        }
        const std::uint32_t detours = inner_->detours(gates.out, gates.in);
        for (std::uint32_t i = 0; i < detours; ++i) {
            const auto any = static_cast<std::uint32_t>((salt + i) % detours);  // other salts, other detours
            const Route route = inner_->detour(gates.out, gates.in, salt, any);
            if (links_.alive(route)) return route;
        }
        return std::nullopt;
    }

    Route shortest(RankId from, RankId to) const {
        if (const std::optional<Route> route = links_.shortest(from, to)) return *route;
        throw RangeError("the route around dead links from rank {} to rank {} has more than {} links", index(from),
                         index(to), Route::capacity);
    }

    // By which link traffic to the rank of the same place in another node, a whole one if there is one, leaves.
    LinkId find_door(RankId rank) const {
        const std::uint32_t n = links_.ranks_per_node();
        std::optional<RankId> opposite;
        for (std::uint32_t node = 0; node < links_.ranks() / n; ++node) {
            const RankId other{node * n + static_cast<std::uint32_t>(rank) % n};
            if (other == rank || (opposite && links_.is_crippled(other))) continue;
            opposite = other;
            if (!links_.is_crippled(other)) break;
        }
        const Route out = route(rank, *opposite, 0);
        return *std::ranges::find_if(out.links(), [&](LinkId link) { return links_.enters_network(link); });
    }

    // Distances as the router inside knows them: all nodes are equal to it.
    void list_neighbours() {
        const std::uint32_t n = links_.ranks_per_node();
        for (std::uint32_t from = 0; from < n; ++from) {
            std::vector<std::uint32_t>& order = neighbours_.emplace_back(numbers_below<std::uint32_t>(n));
            std::ranges::stable_sort(order, std::ranges::less{}, [&](std::uint32_t to) {
                return std::tuple(inner_->route(RankId(from), RankId(to), 0).hops, (to + n - from) % n);
            });
        }
    }

    void route_inside_crippled_nodes() {
        const std::uint32_t n = links_.ranks_per_node();
        for (const std::uint32_t node : links_.crippled_nodes()) {
            for (std::uint32_t pair = 0; pair < n * n; ++pair) {
                const RankId from{node * n + pair / n}, to{node * n + pair % n};
                if (!links_.alive(inner_->route(from, to, 0)))
                    rerouted_.emplace(std::pair(from, to), shortest(from, to));
            }
        }
    }

    std::shared_ptr<const Router> inner_;
    LiveLinks links_;
    std::vector<std::vector<std::uint32_t>> neighbours_;   // by accelerator of a node
    std::map<std::pair<RankId, RankId>, Route> rerouted_;  // inside nodes, where the inner route is dead
    std::map<RankId, LinkId> doors_;                       // of ranks of crippled nodes
};

}  // namespace weft
