// What is known of the groups of a row wherever it lies: their channels, and what their messages pass.
#pragma once

#include <deque>
#include <map>
#include <span>
#include <vector>

#include "sim/collective/circle.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/collective/row_parts.hpp"
#include "sim/collective/row_traffic.hpp"
#include "topologies/channels.hpp"

namespace weft {

class RowSurveys {
  public:
    // All arguments must outlive this.
    RowSurveys(const Topology& topology, const Circles& circles, ChannelPlanner& planner, GroupRow row);
    RowSurveys(const RowSurveys&) = delete;
    RowSurveys& operator=(const RowSurveys&) = delete;

    const PartedRow& parted() const { return row_; }
    const GroupRow& row() const { return row_.groups(); }
    const GroupShape& shape() const { return shape_; }
    // Lays channels. Whether those of groups moved inside their nodes are those of the first, moved.
    bool lay(Order order);
    // Of an algorithm among these groups; as long-lived as this.
    const std::vector<Phase>& phases(const Algorithm& algorithm);

    // Of the messages of a phase, laid in an order. The phase is of phases(), and lay() was true.
    RowTraffic& traffic(Order order, const Phase& phase);

  private:
    struct Laid {
        Communicator communicator{};  // through the first group
        bool others_are_moved = false;
    };
    std::span<const RankId> pattern(std::span<const RankId> members) const;
    Communicator lay(std::span<const RankId> members, std::span<const RankId> pattern, Order order);

    const Topology& topology_;
    ChannelPlanner& planner_;
    PartedRow row_;
    GroupShape shape_;
    std::span<const RankId> shown_;  // as pattern() of all members
    std::map<Order, Laid> laid_;
    std::map<const Algorithm*, std::vector<Phase>> phases_;
    std::map<Order, std::deque<RowTraffic>> traffic_;
};

}  // namespace weft
