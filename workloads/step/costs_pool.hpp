// What calls cost sets of groups, worked out once for each set. Programs of jobs that share a layout communicate in the
// same groups; where the channels of these run, and what they load, is the costly part of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/collective/group_costs.hpp"
#include "sim/topology/topology.hpp"
#include "topologies/channels.hpp"

namespace weft {

// The members of groups that sit alike on nodes, group by group.
struct GroupMembers {
    std::uint32_t size = 1;  // of each group
    std::vector<RankId> ranks{};

    std::size_t groups() const { return ranks.size() / size; }
    std::span<const RankId> operator[](std::size_t group) const { return std::span(ranks).subspan(group * size, size); }
    bool operator==(const GroupMembers&) const = default;
};

// Not for several threads. The topology must outlive this.
class CostsPool {
  public:
    CostsPool(const Topology& topology, Library library);
    CostsPool(const CostsPool&) = delete;
    CostsPool& operator=(const CostsPool&) = delete;

    const Topology& topology() const { return topology_; }
    const Library& library() const { return library_; }

    // Of all groups of a family together. Equal members in equal order share costs. As long-lived as this.
    GroupCosts& find(GroupMembers groups);
    // Of some groups of a family, or of one, which lay the same channels and share the detours of `whole`.
    GroupCosts part(GroupMembers groups, GroupCosts& whole);

    std::size_t routed_links() const;  // GroupCosts::routed_links of all that was found

  private:
    // The costs refer to the groups beside them.
    struct Known {
        Known(CostsPool& pool, GroupMembers members);
        GroupMembers groups;
        GroupCosts costs;
    };
    std::vector<Communicator> lay(const GroupMembers& groups, Order order);
    std::int32_t nodes_between(std::span<const RankId> from, std::span<const RankId> to) const;
    bool is_moved(std::span<const RankId> from, std::span<const RankId> to) const;

    const Topology& topology_;
    const Library library_;
    ChannelPlanner planner_;
    std::unordered_multimap<std::uint64_t, std::unique_ptr<Known>> known_;  // by a hash; compared before it is believed
};

}  // namespace weft
