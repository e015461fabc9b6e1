// Max-min fair rates of flows that come and go, each with a route of its own. A link with a single flow is no
// constraint: what it lets through is a limit of that flow.
#pragma once

#include <cstdint>
#include <span>

#include "sim/base/quantity.hpp"
#include "sim/base/table.hpp"
#include "sim/explicit/strided_rows.hpp"
#include "sim/network/message_load.hpp"
#include "sim/network/water_filling.hpp"
#include "sim/topology/topology.hpp"

namespace weft {

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

}  // namespace weft
