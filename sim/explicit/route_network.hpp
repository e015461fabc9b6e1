// Flows that share links max-min fairly, each with a route that is given when it starts: for runs in which every
// message is a flow of its own. FlowNetwork, which is told all patterns beforehand and folds equal ones, gives the same
// rates; this one keeps nothing but the flows that are under way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/check.hpp"
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
    explicit RouteMaxMin(const Topology& topology) : links_(topology.links()) {
        for (LinkId link{}; link != links_.end_id(); link = next(link)) {
            links_[link].capacity = topology.link(link).bandwidth.value;
            links_[link].joins_switches = topology.joins_switches(link);
            filling_.add_constraint(topology.link(link).bandwidth, least_load, most_load, 0);
        }
    }

    // The flow loads every link of `route`, of which there is at least one and none twice, as `load`
    // says, and goes no faster than `cap`. Returns whether it meets nobody there: then its rate is known, and all
    // others are as they were. Else rates are after the next solve.
    bool enter(FlowId id, std::span<const LinkId> route, const MessageLoad& load, BytesPerSecond cap) {
        WEFT_CHECK(!route.empty(), "a flow without links has no rate");
        for (const double each : {load.at_ends, load.between_switches}) {
            WEFT_CHECK(each >= least_load && each <= most_load, "a flow loads its links with what it says");
        }
        while (index(id) >= flows_.size()) {
            flows_.push_back({});
            filling_.add_pattern(0);
        }
        FlowState& flow = flows_[id];
        WEFT_CHECK(flow.hops == 0, "a flow enters once");
        flow = {load, static_cast<std::uint32_t>(route.size())};
        std::ranges::copy(route, routes_.make_room(id, route.size()).begin());
        double least = std::numeric_limits<double>::infinity();
        bool is_alone = true;
        for (const LinkId link : route) {
            least = std::min(least, links_[link].capacity / load.on(links_[link].joins_switches));
            is_alone = is_alone && links_[link].flows == 0;
        }
        const double limit = std::min(cap.value, least);
        if (is_alone) {
            filling_.set_alone(pattern_of(id), 1, limit);
        } else {
            filling_.set_flows(pattern_of(id), 1, limit);
        }
        for (const LinkId at : route) {
            LinkState& link = links_[at];
            const double own = load.on(link.joins_switches);
            link.load += own;
            if (link.flows++ == 0) {
                link.only = id;
                continue;
            }
            if (link.flows == 2)
                filling_.attach(pattern_of(link.only), constraint_of(at),
                                flows_[link.only].load.on(link.joins_switches));
            filling_.attach(pattern_of(id), constraint_of(at), own);
            if (link.capacity / own == least && cap.value >= least) filling_.expect_full(constraint_of(at));
        }
        return is_alone;
    }

    // Returns whether it met nobody.
    bool leave(FlowId id) {
        FlowState& flow = flows_[id];
        const bool is_alone = !filling_.is_on_any(pattern_of(id));
        if (is_alone) {
            filling_.set_alone(pattern_of(id), 0, 0.0);
        } else {
            filling_.set_flows(pattern_of(id), 0, 0.0);
            filling_.detach_all(pattern_of(id));
        }
        for (const LinkId at : routes_.first(id, std::exchange(flow.hops, 0))) {
            LinkState& link = links_[at];
            link.load = --link.flows == 0 ? 0.0 : link.load - flow.load.on(link.joins_switches);
            if (link.flows != 1) continue;
            link.only = FlowId(static_cast<std::uint32_t>(filling_.only_one_on(constraint_of(at))));
            filling_.detach_all(constraint_of(at));
        }
        return is_alone;
    }

    // What one more flow would get if each link of `route` shared its bandwidth equally by load: a guess from how many
    // flows there are, not a rate.
    BytesPerSecond fair_share(const Route& route, const MessageLoad& load) const {
        double share = std::numeric_limits<double>::infinity();
        for (const LinkId id : route.links()) {
            const LinkState& link = links_[id];
            share = std::min(share, link.capacity / (link.load + load.on(link.joins_switches)));
        }
        return {share};
    }

    // Calls `visit` with the flows whose rates changed.
    template <class Visit>
    void solve(Visit visit) {
        for (const PatternId changed : filling_.solve()) visit(FlowId(static_cast<std::uint32_t>(changed)));
    }

    BytesPerSecond rate(FlowId flow) const { return {filling_.rate(pattern_of(flow))}; }

  private:
    static constexpr double least_load = 0.25, most_load = 100.0;  // that protocols and headers make of a byte

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
                    BytesPerSecond cap) {
        WEFT_CHECK(std::isfinite(bytes.value) && bytes.value > 0.0, "a flow needs bytes to move");
        if (now != clock_) {
            WEFT_CHECK(clock_ < now && now <= next_change(), "a flow must start now, before anything else changes");
            clock_ = now;
        }
        const FlowId id = flows_.add({now, bytes, {}, {}});
        if (max_min_.enter(id, links, load, cap)) {
            set_rate(id);
        } else {
            rates_ = Rates::stale;
        }
        return id;
    }

    // When the next flow finishes; Instant::never() when none is under way. Solves if rates are stale.
    Instant next_change() {
        solve_if_stale();
        return finishes_.next();
    }

    // Moves to `now` <= next_change() and appends the flows that finish there, in FlowId order. The next start may
    // reuse an id.
    void advance(Instant now, std::vector<FlowId>& done) {
        WEFT_CHECK(clock_ <= now && now <= next_change(), "the network cannot skip its next change or go back");
        clock_ = now;
        const auto first = static_cast<std::ptrdiff_t>(done.size());
        if (finishes_.next() == now) finishes_.take_first(done);
        for (auto id = done.begin() + first; id != done.end(); ++id) finish(*id);
    }

    // See RouteMaxMin.
    BytesPerSecond fair_share(const Route& route, const MessageLoad& load) const {
        return max_min_.fair_share(route, load);
    }
    Bytes delivered() const { return delivered_; }  // by finished flows, from integrating their rates
    std::uint64_t solves() const { return solves_; }
    // Of a flow under way. Solves if rates are stale.
    BytesPerSecond rate(FlowId flow) {
        solve_if_stale();
        return max_min_.rate(flow);
    }

  private:
    struct Flow {
        Instant since;  // when `remaining` was true
        Bytes remaining{};
        Bytes moved{};
        BytesPerSecond rate{};
    };

    void solve_if_stale() {
        if (rates_ == Rates::current) return;
        rates_ = Rates::current;
        ++solves_;
        max_min_.solve([this](FlowId id) { set_rate(id); });
    }

    // From now on, as max_min_ says.
    void set_rate(FlowId id) {
        Flow& flow = flows_[id];
        const Bytes moved = std::min(flow.remaining, flow.rate * (clock_ - flow.since));
        flow.moved += moved;
        flow.remaining -= moved;
        flow.since = clock_;
        flow.rate = max_min_.rate(id);
        finishes_.set(id, clock_ + flow.remaining / flow.rate);
    }

    // As FlowNetwork::finish: the end is rounded to a tick, the bytes are integrated over the unrounded time.
    void finish(FlowId id) {
        Flow& flow = flows_[id];
        const Seconds unrounded = flow.remaining / flow.rate;
        WEFT_CHECK(flow.since + unrounded == clock_, "a flow finished at an instant that its rate does not explain");
        delivered_ += flow.moved + flow.rate * unrounded;
        if (!max_min_.leave(id)) rates_ = Rates::stale;
        flows_.remove(id);
    }

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
