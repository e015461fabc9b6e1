// Max-min fair rates of flows that come and go, each with a route of its own. Where MaxMin knows all patterns
// beforehand and solves whole components, this one starts from what changed and looks only as far as rates really
// change:
//
// All rates but those of a set of moving flows are held, and the moving ones fill what is left of their links. The
// result is the max-min fair one, which is unique, if every flow is at its cap or has a bottleneck: a link that is used
// up and on which no flow is faster (Bertsekas & Gallager, Data Networks, section 6.5.2). Held flows that lost theirs,
// or that are faster than a moving flow on its bottleneck, move as well, until there are none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/explicit/strided_rows.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

class RouteMaxMin {
  public:
    explicit RouteMaxMin(const Topology& topology);

    // The flow loads every link of `route`, of which there is at least one and none twice, with `load` bytes per byte
    // of its own, and goes no faster than `cap`. Its rate is known after the next solve.
    void enter(FlowId flow, std::span<const LinkId> route, double load, BytesPerSecond cap);
    void leave(FlowId flow);

    // What one more flow would get if each link of `route` shared its bandwidth equally by load: a guess from how many
    // flows there are, not a rate.
    BytesPerSecond fair_share(const Route& route, double load) const;

    // Returns the flows whose rates changed, good until the next call.
    std::span<const FlowId> solve();

    BytesPerSecond rate(FlowId flow) const { return {flows_[flow].rate}; }

  private:
    struct Hop {
        LinkId link{};
        std::uint32_t place = 0;  // in the link's list
    };
    struct FlowState {  // what is read of every flow on a link comes first
        double load = 1.0;
        double rate = 0.0;
        double cap = 0.0;
        LinkId bottleneck{};       // of the last solve; none before the first, and at its cap
        std::uint32_t moving = 0;  // the solve in which it moves
        std::uint32_t frozen = 0;  // the filling in which its rate was found
        std::uint32_t hops = 0;    // 0: not under way
        double held_rate = 0.0;    // before it moved
    };
    struct Passage {  // of a flow over a link
        FlowId flow{};
        std::uint32_t hop = 0;  // which of the flow's
    };
    struct LinkState {
        double capacity = 0.0;
        std::vector<Passage> flows{};
        double load = 0.0;          // sum over flows
        std::uint32_t touched = 0;  // the solve that looks at it
        std::uint32_t dirty = 0;    // the solve before which flows came or went
        // Of the filling under way: flows that rise, their loads, and what they have left.
        std::uint32_t rising = 0;
        double demand = 0.0;
        double residual = 0.0;
    };
    // A level at which something stops rising: link `what`, or past the last one, the cap of a flow.
    struct Limit {
        double level = 0.0;
        std::size_t what = 0;
    };

    std::span<const Hop> hops(FlowId flow) const { return hops_.first(flow, flows_[flow].hops); }
    bool is_moving(const FlowState& flow) const { return flow.moving == solve_; }
    void mark_dirty(LinkId link);
    void touch(LinkId link);
    void move(FlowId flow);
    void move_or_settle(FlowId flow);
    void fill();
    void gather_limits();
    bool has_moved_up(Limit& limit) const;
    std::size_t stop(const Limit& limit, double level);
    void freeze(FlowId flow, double level, LinkId bottleneck);
    void move_disturbed();
    void move_disturbed_on(LinkId link);

    static constexpr auto lower = [](const Limit& a, const Limit& b) {
        return a.level != b.level ? a.level < b.level : a.what < b.what;
    };

    Table<FlowId, FlowState> flows_;
    StridedRows<FlowId, Hop> hops_;
    Table<LinkId, LinkState> links_;
    std::uint32_t solve_ = 1;
    std::uint32_t filling_ = 0;
    std::vector<FlowId> entered_;  // since the last solve
    std::vector<LinkId> dirty_;    // links on which flows came or went since the last solve, beside others
    std::vector<FlowId> moving_;
    std::vector<LinkId> touched_;  // links of moving flows, and dirty ones
    std::vector<Limit> limits_;
    std::vector<FlowId> changed_;
};

}  // namespace weft
