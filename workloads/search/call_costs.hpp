// What the calls of a layout take on idle links: the alpha-beta cost of the algorithm that the library takes, with the
// groups that sit on the same node at the same work. Worked out once for each group and message.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/cost/group_costs.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"
#include "workloads/plan/plan.hpp"
#include "workloads/script/script.hpp"
#include "workloads/search/slot_order.hpp"

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

// Reads a script as one rank alone would run it: computation and blocking calls one after another, what is issued on a
// lane for each set of groups, every call as long as on idle links, peers never late.
class ScriptClock {
  public:
    struct Reading {
        Seconds time;     // of the chain, from the start
        Seconds compute;  // of it: at work; the rest is spent in calls or waiting for them
    };

    // `interference`: Device::interference.
    ScriptClock(CallCosts& costs, std::uint32_t stage, double interference);

    // After all that the script says so far. What was read before must not have changed.
    Reading read(const Script& script);

  private:
    double call(const Call& call, double ready, double duration);
    double compute(double duration) const;  // its end

    CallCosts& costs_;
    std::uint32_t stage_;
    double interference_;
    std::vector<double> end_;        // of actions
    std::vector<double> durations_;  // of calls
    double chain_ = 0, computed_ = 0, host_ = 0;
    double stored_ = 0, loaded_ = 0;          // until when copies to the host and from it go on
    double busy_ = 0;                         // until when some lane transfers
    std::map<RankGroups, double> free_from_;  // of lanes
};

// What a stage takes on its own: the script that it would run, one micro-batch that is like most and one that is the
// step's last, read by a ScriptClock.
struct StageTimes {
    std::vector<PartTimes> chunks;  // of a micro-batch like most
    std::vector<double> joint;      // the forward's chunk x chunks + the backward's; empty without joint passes
    Seconds compute, exposed;       // of such a micro-batch on all chunks, forward and backward
    // Once per step: what precedes the first slot and follows the last, and by how much the passes that complete the
    // gradients are longer.
    Seconds once;
    Seconds once_compute;  // of it
};

// `stage` of the plan must have its chunks and modules; slots are not looked at.
StageTimes stage_times(const Plan& plan, std::uint32_t stage, CallCosts& costs);

}  // namespace weft
