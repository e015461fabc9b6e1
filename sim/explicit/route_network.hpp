// Flows that share links max-min fairly, each with a route that is given when it starts: for runs in which every
// message is a flow of its own. FlowNetwork, which is told all patterns beforehand and folds equal ones, gives the same
// rates; this one keeps nothing but the flows that are under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/explicit/route_max_min.hpp"
#include "sim/network/finish_buckets.hpp"
#include "sim/network/flow_slots.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class RouteNetwork {
  public:
    static constexpr BytesPerSecond uncapped{std::numeric_limits<double>::infinity()};

    explicit RouteNetwork(const Topology& topology) : max_min_(topology) {}

    // `bytes` > 0 that load the links of the route as `load` says, no faster than `cap`. Calls must not go
    // back in time.
    FlowId start(Instant now, const Route& route, const MessageLoad& load, Bytes bytes, BytesPerSecond cap = uncapped) {
        return start_on(now, route.links(), load, bytes, cap);
    }
    FlowId start_on(Instant now, std::span<const LinkId> links, const MessageLoad& load, Bytes bytes,
                    BytesPerSecond cap);
    // When the next flow finishes; Instant::never() when none is under way. Solves if rates are stale.
    Instant next_change();
    // Moves to `now` <= next_change() and appends the flows that finish there, in FlowId order. The next start may
    // reuse an id.
    void advance(Instant now, std::vector<FlowId>& done);

    // See RouteMaxMin.
    BytesPerSecond fair_share(const Route& route, const MessageLoad& load) const {
        return max_min_.fair_share(route, load);
    }
    Bytes delivered() const { return delivered_; }  // by finished flows, from integrating their rates
    std::uint64_t solves() const { return solves_; }
    // Of a flow under way. Solves if rates are stale.
    BytesPerSecond rate(FlowId flow);

  private:
    struct Flow {
        Instant since;  // when `remaining` was true
        Bytes remaining{};
        Bytes moved{};
        BytesPerSecond rate{};
    };

    void solve_if_stale();
    void set_rate(FlowId id);  // as max_min_ says, from now on
    void finish(FlowId id);

    enum class Rates : std::uint8_t { current, stale };

    RouteMaxMin max_min_;
    FlowSlots<Flow> flows_;
    FinishBuckets finishes_;
    Rates rates_ = Rates::current;
    Instant clock_;
    Bytes delivered_;
    std::uint64_t solves_ = 0;
};

}  // namespace weft
