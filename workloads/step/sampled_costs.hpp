// What calls cost rows of groups, worked out on a sample of the machine's links.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sim/collective/fabric_sample.hpp"
#include "sim/collective/group_costs.hpp"
#include "sim/collective/group_row.hpp"
#include "topologies/channels.hpp"
#include "workloads/script/script.hpp"

namespace weft {

enum class Sampling : std::uint8_t { where_it_pays, wherever_possible };

class SampledCosts {
  public:
    // Whether routes on the topology can be sampled.
    static bool serves(const Topology& topology);

    SampledCosts(const Topology& topology, Library library, Sampling sampling);
    SampledCosts(const SampledCosts&) = delete;
    SampledCosts& operator=(const SampledCosts&) = delete;

    const Topology& topology() const { return topology_; }
    const Library& library() const { return library_; }

    // Whether to add the row at all.
    bool serves(const GroupRow& row) const;
    // Of the groups of a row, which make these calls and no others. As long-lived as this; asked for nothing before
    // choose(). Null where channels of groups moved inside their nodes are not these groups' moved, or where all send
    // to all in large groups.
    GroupCosts* add(GroupRow row, std::span<const Call> calls);
    // After all rows were added.
    void choose() { sample_.choose(); }
    const FabricSample& sample() const { return sample_; }

  private:
    // Messages of one kind in the groups of a row.
    struct Kind {
        Order order{};
        const Phase* phase = nullptr;           // of the row
        std::unique_ptr<RowTraffic> traffic{};  // worked out when it is first asked for
    };
    struct Row {
        GroupRow groups;
        std::map<Order, Communicator> communicators{};  // through the first group
        std::map<const Algorithm*, std::vector<Phase>> phases{};
        std::vector<Kind> kinds{};
        std::unique_ptr<GroupCosts> costs{};
    };
    Kind& kind_of(Row& row, Order order, const Phase& phase);
    std::vector<PhaseCost> work_out(Row& row, const Choice& choice);
    bool lay(Row& row, Order order);
    std::span<const RankId> pattern(std::span<const RankId> members) const;
    Communicator lay(std::span<const RankId> members, std::span<const RankId> pattern, Order order);

    const Topology& topology_;
    const Library library_;
    Sampling sampling_;
    ChannelPlanner planner_;
    FabricSample sample_;
    std::deque<Row> rows_;
};

}  // namespace weft
