// Flows that share links max-min fairly, each with a route that is given when it starts: for runs in which every
// message is a flow of its own. FlowNetwork, which is told all patterns beforehand and folds equal ones, gives the same
// rates; this one keeps nothing but the flows that are under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/instant.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/network/finish_buckets.hpp"
#include "sim/network/flow_slots.hpp"
#include "sim/network/network_model.hpp"
#include "sim/network/water_filling.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

// A short list per id, all in one array: every row has room for as many items as the longest row had so far, so lists
// of one length, such as routes, lie side by side without a pointer to each.
template <class Id, class Item>
class StridedRows {
  public:
    // Room for `count` items in the row of `id`; what other rows hold stays, where it lies may change.
    std::span<Item> make_room(Id id, std::size_t count) {
        if (count > stride_) widen(count);
        if ((index(id) + 1) * stride_ > items_.size()) items_.resize((index(id) + 1) * stride_);
        return first(id, count);
    }
    std::span<Item> first(Id id, std::size_t count) { return {items_.data() + index(id) * stride_, count}; }
    std::span<const Item> first(Id id, std::size_t count) const { return {items_.data() + index(id) * stride_, count}; }

  private:
    void widen(std::size_t stride) {
        std::vector<Item> wide(stride_ == 0 ? 0 : items_.size() / stride_ * stride);
        for (std::size_t from = 0, to = 0; from < items_.size(); from += stride_, to += stride) {
            std::copy_n(items_.begin() + static_cast<std::ptrdiff_t>(from), stride_,
                        wide.begin() + static_cast<std::ptrdiff_t>(to));
        }
        items_ = std::move(wide);
        stride_ = stride;
    }

    std::vector<Item> items_;
    std::size_t stride_ = 0;
};

// Max-min fair rates of flows that come and go, each with a route of its own. A link with a single flow is no
// constraint: what it lets through is a limit of that flow.
class RouteMaxMin {
  public:
    explicit RouteMaxMin(const Topology& topology);

    // The flow loads every link of `route`, of which there is at least one and none twice, as `load`
    // says, and goes no faster than `cap`. Returns whether it meets nobody there: then its rate is known, and all
    // others are as they were. Else rates are after the next solve.
    bool enter(FlowId flow, std::span<const LinkId> route, const MessageLoad& load, BytesPerSecond cap);
    bool leave(FlowId flow);  // whether it met nobody

    // What one more flow would get if each link of `route` shared its bandwidth equally by load: a guess from how many
    // flows there are, not a rate.
    BytesPerSecond fair_share(const Route& route, const MessageLoad& load) const;

    // Calls `visit` with the flows whose rates changed.
    template <class Visit>
    void solve(Visit visit) {
        for (const PatternId changed : filling_.solve()) visit(FlowId(static_cast<std::uint32_t>(changed)));
    }

    BytesPerSecond rate(FlowId flow) const { return {filling_.rate(pattern_of(flow))}; }

  private:
    struct FlowState {
        MessageLoad load{};
        std::uint32_t hops = 0;  // 0: not under way
    };
    struct LinkState {
        double capacity = 0.0;
        double load = 0.0;  // sum over flows
        std::uint32_t flows = 0;
        bool joins_switches = false;
        FlowId only{};  // if there is one
    };
    static PatternId pattern_of(FlowId flow) { return PatternId(static_cast<std::uint32_t>(flow)); }
    static ConstraintId constraint_of(LinkId link) { return ConstraintId(static_cast<std::uint32_t>(link)); }

    WaterFilling filling_;
    Table<FlowId, FlowState> flows_;
    StridedRows<FlowId, LinkId> routes_;
    Table<LinkId, LinkState> links_;
};

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
