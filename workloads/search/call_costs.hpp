// What the calls of a layout take on idle links: the alpha-beta cost of the algorithm that the library takes, with the
// groups that sit on the same node at the same work. Worked out once for each group and message.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"
#include "workloads/plan/plan.hpp"

namespace weft {

class CallCosts {
  public:
    // Of jobs that differ in layout alone as far as communication goes. The topology must outlive this.
    CallCosts(const Topology& topology, Library library);
    CallCosts(const CallCosts&) = delete;
    CallCosts& operator=(const CallCosts&) = delete;

    const Library& library() const { return library_; }
    // The calls asked for from now on are those of this layout. Their times do not depend on layouts before.
    void lay_out(const Layout& layout);
    // As a rank of `stage` issues it; to stage call.peer if it crosses a boundary.
    Seconds time(const Call& call, std::uint32_t stage);

  private:
    struct Group {
        std::unique_ptr<GroupCosts> costs;
        std::map<std::pair<Collective, double>, Seconds> times;
    };
    using Groups = std::vector<std::vector<RankId>>;

    Groups groups(const Call& call, std::uint32_t stage) const;
    Group& find(const Call& call, std::uint32_t stage);

    const Topology& topology_;
    Library library_;
    std::unique_ptr<ChannelPlanner> planner_;
    Layout layout_;
    std::map<Groups, Group> known_;
    // Of the layout: by kind, and of boundaries by whether they leave the node.
    std::map<std::tuple<RankGroups, std::uint32_t, bool>, Group*> laid_;
};

}  // namespace weft
